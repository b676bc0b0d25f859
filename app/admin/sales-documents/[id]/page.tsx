import { SimpleGrid } from '@mantine/core';
import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { getSalesDocument, type SalesDocumentDetails } from '@/lib/sales-documents/get-sales-document';
import { formatDate, formatField } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { orNotFound } from '../../../_components/or-not-found';
import { toHref, toId } from '../../../_components/search-params';
import { CustomerSection } from '../../_components/customer-section';
import { Facts } from '../../_components/facts';
import { Instant } from '../../_components/instant';
import { invoiceName } from '../../_components/invoice-list';
import { Money } from '../../_components/money';
import { PageHeader } from '../../_components/page-header';
import { RecordTitle } from '../../_components/record-title';
import { Section } from '../../_components/section';

export const metadata: Metadata = { title: 'Sales document' };

const PATH = '/admin/sales-documents';

export default async function SalesDocumentPage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db, env } = await getRuntime();
  const document = await orNotFound(getSalesDocument(db, id));
  const { customer } = document;
  return (
    <>
      <PageHeader
        back={{ href: PATH, label: 'Sales documents' }}
        title={
          <RecordTitle status={document.status}>
            {formatField(document.type)} {document.document_number}
          </RecordTitle>
        }
        description={customer.name || customer.customer_number}
      />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
        <Section title="Document">
          <Facts facts={factsOf(document, env.timeZone)} />
        </Section>
        <CustomerSection
          customer={customer}
          action={
            <TextLink href={toHref(PATH, { customer: customer.customer_number })}>All documents</TextLink>
          }
        />
      </SimpleGrid>
    </>
  );
}

function factsOf(document: SalesDocumentDetails, timeZone: string) {
  const { invoice, valid_until } = document;
  const money = (amount: number) => <Money amount={amount} currency={document.currency} />;
  return {
    Date: formatDate(document.document_date),
    'Valid until': valid_until && formatDate(valid_until),
    Subtotal: money(document.subtotal),
    Tax: money(document.tax),
    Total: money(document.total),
    Invoice: invoice && (
      <TextLink
        href={`/admin/invoices/${invoice.id}`}
      >{`${invoiceName(invoice)}, ${invoice.status}`}</TextLink>
    ),
    Created: <Instant at={document.created_at} timeZone={timeZone} />,
    Updated: <Instant at={document.updated_at} timeZone={timeZone} />,
  };
}
