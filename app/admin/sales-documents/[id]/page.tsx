import { SimpleGrid, Stack } from '@mantine/core';
import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { listLines } from '@/lib/invoices/lines';
import { getRuntime } from '@/lib/runtime';
import { getSalesDocument, type SalesDocumentDetails } from '@/lib/sales-documents/queries';
import { formatDate, formatField } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { orNotFound } from '../../../_components/or-not-found';
import { type SearchParams, toHref, toId, toParams } from '../../../_components/search-params';
import { History } from '../../_components/audit/history';
import { Facts } from '../../_components/display/facts';
import { Instant } from '../../_components/display/instant';
import { Money } from '../../_components/display/money';
import { RecordTitle } from '../../_components/display/record-title';
import { LineSection } from '../../_components/forms/lines/line-section';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { PageHeader } from '../../_components/page/page-header';
import { Section } from '../../_components/page/section';
import { titleOfRow } from '../../_components/page/title-of';
import { CustomerSection } from '../../_components/records/customer-section';
import { invoiceName } from '../../_components/records/invoice-list';
import { TaxNotice } from '../../_components/records/tax-notice';
import { DocumentActions } from './document-actions';
import { DONE } from './step-text';

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
