import { Anchor } from '@mantine/core';
import { formatCustomer, formatDate, formatField, formatMoney } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import type { DocumentState } from '@/lib/documents/invoice-document';
import { describeSalesFile } from '@/lib/documents/sales-document-file';
import { listLines } from '@/lib/invoices/lines';
import { getSalesDocument, type SalesDocumentDetails } from '@/lib/sales-documents/queries';
import { type Conversion, conversionsOf } from '@/lib/sales-documents/save-sales-documents';
import { History } from '../../_components/audit/audit-trail';
import { Instant, Money, RecordTitle } from '../../_components/display/values';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import { LineSection } from '../../_components/forms/lines/line-section';
import { RecordActions } from '../../_components/forms/record/record-actions';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { Columns, Page, recordPage, Section, titleOfRow } from '../../_components/page/staff-page';
import { CustomerSection } from '../../_components/records/customer-link';
import { invoiceName } from '../../_components/records/invoice-list';
import { TaxNotice, WhyNoDocument } from '../../_components/records/record-alerts';
import { convert } from '../actions';

export const generateMetadata = titleOfRow(
  'Sales document',
  getSalesDocument,
  ({ type, document_number }) => `${formatField(type)} ${document_number}`,
);

export default recordPage(getSalesDocument, async (document, { id, db, timeZone, notice, staff }) => {
  const { customer, status } = document;
  const lines = await listLines(db, 'sales_document', id);
  return (
    <Page
      back={{ href: '/admin/sales-documents', label: 'Sales documents' }}
      title={
        <RecordTitle status={status}>
          {formatField(document.type)} {document.document_number}
        </RecordTitle>
      }
      description={formatCustomer(customer)}
      actions={<DocumentActions document={document} />}
      notice={
        <>
          <RecordNotice notice={notice} done={DONE} />
          {status === 'draft' && <TaxNotice customerId={customer.id} lines={lines} />}
        </>
      }
    >
      <Columns>
        <Section title="Document" facts={factsOf(document, timeZone)} />
        <CustomerSection
          customer={customer}
          all={{ path: '/admin/sales-documents', label: 'All documents' }}
        />
      </Columns>
      <LineSection lines={lines} currency={document.currency} />
      <FileSection
        document={document}
        state={await describeSalesFile(db, id)}
        isAdmin={staff.role === 'admin'}
      />
      <History entity="sales_document" id={id} kept={null} />
    </Page>
  );
});

interface FileProps {
  document: SalesDocumentDetails;
  state: DocumentState;
  /** Whether the person may change the company's settings. */
  isAdmin: boolean;
}

/** Shows a link to the PDF of a sales document, or says why it has no PDF. */
function FileSection({ document: { id, customer }, state, isAdmin }: FileProps) {
  return (
    <Section title="PDF">
      {state.isReady ? (
        <Anchor
          href={`/admin/sales-documents/${id}/document`}
          size="sm"
          fw={500}
          download
          p="md"
          display="block"
        >
          Download the PDF
        </Anchor>
      ) : (
        <WhyNoDocument yet="There is no PDF yet." state={state} customerId={customer.id} isAdmin={isAdmin} />
      )}
    </Section>
  );
}

function factsOf(document: SalesDocumentDetails, timeZone: string) {
  const { invoice, confirmation, valid_until } = document;
  const money = (amount: number) => <Money amount={amount} currency={document.currency} />;
  return {
    Date: formatDate(document.document_date),
    'Valid until': valid_until && formatDate(valid_until),
    Subtotal: money(document.subtotal),
    Tax: money(document.tax),
    Total: money(document.total),
    'Order confirmation': confirmation ? (
      <TextLink href={`/admin/sales-documents/${confirmation.id}`}>{confirmation.document_number}</TextLink>
    ) : undefined,
    Invoice: invoice && (
      <TextLink
        href={`/admin/invoices/${invoice.id}`}
      >{`${invoiceName(invoice)}, ${invoice.status}`}</TextLink>
    ),
    Created: <Instant at={document.created_at} timeZone={timeZone} />,
    Updated: <Instant at={document.updated_at} timeZone={timeZone} />,
  };
}

/** Shows the actions that the type and status of a sales document allow. */
function DocumentActions({ document }: { document: SalesDocumentDetails }) {
  const { id, version, status, document_number: number } = document;
  const name = `${number}, ${formatMoney(document.total, document.currency)}`;
  const isDraft = status === 'draft';
  const [next, ...others] = conversionsOf(document);
  return (
    <RecordActions
      key={version}
      kind="sales_document"
      texts={STEPS}
      record={document}
      name={name}
      edit={isDraft ? undefined : null}
      removal={isDraft ? 'Its number may be reused. The offer it came from can be converted again.' : null}
      primary={next && conversion(next, 'filled')}
    >
      {others.map((to) => conversion(to, 'default'))}
    </RecordActions>
  );

  function conversion(to: Conversion, variant: 'filled' | 'default') {
    return (
      <ConfirmButton
        key={to}
        action={convert.bind(null, id, version, to)}
        question={`Create ${CONVERSIONS[to].noun} from this document?`}
        confirm="Create"
        consequences={[
          name,
          'The new draft has the same customer and lines. A document can be converted once.',
        ]}
        variant={variant}
      >
        {CONVERSIONS[to].label}
      </ConfirmButton>
    );
  }
}

const STEPS = {
  send: {
    label: 'Mark as sent',
    question: 'Mark this document as sent?',
    consequences: [
      'Its content can no longer be changed.',
      'This service sends no e-mail: send the document to the customer yourself.',
    ],
    isNext: true,
  },
  accept: {
    label: 'Mark as accepted',
    question: 'Has the customer accepted it?',
    consequences: ['It can then be converted.'],
    isNext: true,
  },
  reject: {
    label: 'Mark as rejected',
    question: 'Has the customer rejected it?',
    consequences: ['This cannot be undone.'],
    isGrave: true,
  },
  expire: {
    label: 'Mark as expired',
    question: 'Has it expired?',
    consequences: ['This cannot be undone.'],
    isGrave: true,
  },
};

const CONVERSIONS = {
  order_confirmation: { label: 'Create order confirmation', noun: 'an order confirmation' },
  invoice: { label: 'Create invoice', noun: 'an invoice' },
};

const DONE = {
  created: 'The draft is saved.',
  saved: 'Your changes are saved.',
  send: 'The document is marked as sent. No e-mail was sent.',
  accept: 'The document is accepted.',
  reject: 'The document is rejected.',
  expire: 'The document has expired.',
};
