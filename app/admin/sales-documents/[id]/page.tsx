import { formatCustomer, formatDate, formatField, formatMoney } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { orNotFound } from '@/app/_components/or-not-found';
import { History } from '@/app/admin/_components/audit/audit-trail';
import { RecordTitle } from '@/app/admin/_components/display/status';
import { Instant, Money } from '@/app/admin/_components/display/values';
import { ConfirmButton } from '@/app/admin/_components/forms/confirm-button';
import { LineSection } from '@/app/admin/_components/forms/lines/line-section';
import { RecordActions } from '@/app/admin/_components/forms/record/record-actions';
import { RecordNotice } from '@/app/admin/_components/forms/record/record-notice';
import { Columns, Page } from '@/app/admin/_components/page/page-header';
import { Section } from '@/app/admin/_components/page/section';
import { rowIdIn, staffPage } from '@/app/admin/_components/page/staff-page';
import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { CustomerSection } from '@/app/admin/_components/records/customer-link';
import { invoiceName } from '@/app/admin/_components/records/invoice-list';
import { TaxNotice } from '@/app/admin/_components/records/tax-notice';
import { listLines } from '@/lib/invoices/lines';
import { getSalesDocument, type SalesDocumentDetails } from '@/lib/sales-documents/queries';
import {
  type Conversion,
  conversionsOf,
  salesDocumentSteps,
} from '@/lib/sales-documents/save-sales-documents';
import { convert } from '../actions';

export const generateMetadata = titleOfRow('Sales document', async (db, id) => {
  const { type, document_number } = await getSalesDocument(db, id);
  return `${formatField(type)} ${document_number}`;
});

export default staffPage<{ id: string }>(async ({ params, runtime: { db, env }, search }) => {
  const id = rowIdIn(params);
  const document = await orNotFound(getSalesDocument(db, id));
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
          <RecordNotice notice={search.get('notice')} done={DONE} />
          {status === 'draft' && <TaxNotice customerId={customer.id} lines={lines} />}
        </>
      }
    >
      <Columns>
        <Section title="Document" facts={factsOf(document, env.timeZone)} />
        <CustomerSection
          customer={customer}
          all={{ path: '/admin/sales-documents', label: 'All documents' }}
        />
      </Columns>
      <LineSection lines={lines} currency={document.currency} />
      <History entity="sales_document" id={id} kept={null} />
    </Page>
  );
});

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

/** The actions of a sales document. */
function DocumentActions({ document }: { document: SalesDocumentDetails }) {
  const { id, version, status, document_number: number } = document;
  const name = `${number}, ${formatMoney(document.total, document.currency)}`;
  const isDraft = status === 'draft';
  const [next, ...others] = conversionsOf(document);
  return (
    <RecordActions
      key={version}
      kind="sales_document"
      steps={salesDocumentSteps}
      texts={STEPS}
      record={document}
      noun="draft"
      name={name}
      edit={isDraft ? { href: `/admin/sales-documents/${id}/edit` } : null}
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
      'This service sends no e-mail: give the document to the customer yourself.',
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
