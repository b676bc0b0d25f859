import { SimpleGrid, Stack } from '@mantine/core';
import { notFound } from 'next/navigation';
import { formatDate, formatField, formatMoney } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { orNotFound } from '@/app/_components/or-not-found';
import { type SearchParams, toHref, toId, toParams } from '@/app/_components/search-params';
import { History } from '@/app/admin/_components/audit/audit-trail';
import { RecordTitle } from '@/app/admin/_components/display/status';
import { Facts, Instant, Money } from '@/app/admin/_components/display/values';
import { ConfirmButton } from '@/app/admin/_components/forms/confirm-button';
import { LineSection } from '@/app/admin/_components/forms/lines/line-section';
import { RecordActions } from '@/app/admin/_components/forms/record/record-actions';
import { RecordNotice } from '@/app/admin/_components/forms/record/record-notice';
import { PageHeader } from '@/app/admin/_components/page/page-header';
import { Section } from '@/app/admin/_components/page/section';
import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { CustomerSection } from '@/app/admin/_components/records/customer-link';
import { invoiceName } from '@/app/admin/_components/records/invoice-list';
import { TaxNotice } from '@/app/admin/_components/records/tax-notice';
import { requireStaff } from '@/lib/auth/staff-session';
import { listLines } from '@/lib/invoices/lines';
import { getRuntime } from '@/lib/runtime';
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

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

export default async function SalesDocumentPage({ params, searchParams }: Props) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db, env } = await getRuntime();
  const document = await orNotFound(getSalesDocument(db, id));
  const { customer } = document;
  const lines = await listLines(db, 'sales_document', id);
  return (
    <>
      <PageHeader
        back={{ href: '/admin/sales-documents', label: 'Sales documents' }}
        title={
          <RecordTitle status={document.status}>
            {formatField(document.type)} {document.document_number}
          </RecordTitle>
        }
        description={customer.name || customer.customer_number}
        actions={<DocumentActions document={document} />}
      />
      <RecordNotice notice={toParams(await searchParams).get('notice')} done={DONE} />
      {document.status === 'draft' && <TaxNotice customerId={customer.id} lines={lines} />}
      <Stack gap="xl">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
          <Section title="Document">
            <Facts facts={factsOf(document, env.timeZone)} />
          </Section>
          <CustomerSection
            customer={customer}
            action={
              <TextLink href={toHref('/admin/sales-documents', { customer: customer.customer_number })}>
                All documents
              </TextLink>
            }
          />
        </SimpleGrid>
        <LineSection lines={lines} currency={document.currency} />
        <History entity="sales_document" id={id} kept={null} />
      </Stack>
    </>
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

/** What staff can do with a sales document. */
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
