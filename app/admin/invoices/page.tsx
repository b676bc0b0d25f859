import { Group } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { addMoneyBack } from '@/lib/invoices/money-back';
import { listInvoices } from '@/lib/invoices/queries';
import {
  INVOICE_STATES,
  type InvoiceStaffFilters,
  invoiceStaffFilters,
  toInvoiceConditions,
} from '@/lib/invoices/staff-filters';
import { getRuntime } from '@/lib/runtime';
import { type SearchParams, toPageRequest, toParams, withParams } from '../../_components/search-params';
import { choiceOf } from '../_components/choice';
import { CountedList } from '../_components/counted-list';
import { DownloadButton } from '../_components/download-button';
import { InvoiceList } from '../_components/invoice-list';
import { ListPage } from '../_components/list-page';
import { parseFilters } from '../_components/parse-filters';
import { NewLink } from '../_components/record/new-link';
import { RecordNotice } from '../_components/record/record-notice';
import { PATH } from './path';

export const metadata: Metadata = { title: 'Invoices' };

const FIELDS = [
  { name: 'customer', label: 'Customer', placeholder: 'Number' },
  { name: 'number', label: 'Number', placeholder: 'Whole, or #ID' },
  { name: 'status', label: 'Status', options: choiceOf(INVOICE_STATES) },
  { name: 'from', label: 'From', type: 'date' as const },
  { name: 'to', label: 'To', type: 'date' as const },
];

export default async function InvoicesPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  const parsed = parseFilters(invoiceStaffFilters, search);
  const download = withParams(`${PATH}/export`, parsed.params, { per_page: null });
  return (
    <ListPage
      title="Invoices"
      actions={
        <Group gap="xs">
          {parsed.filters && <DownloadButton href={download} />}
          <NewLink href={`${PATH}/new`} customer={search.get('customer')}>
            New invoice
          </NewLink>
        </Group>
      }
      notice={<RecordNotice notice={search.get('notice')} done={{ deleted: 'The draft is deleted.' }} />}
      noun="invoices"
      path={PATH}
      fields={FIELDS}
      parsed={parsed}
    >
      {(filters) => <Results filters={filters} search={search} params={parsed.params} />}
    </ListPage>
  );
}

interface ResultsProps {
  filters: InvoiceStaffFilters;
  search: URLSearchParams;
  params: URLSearchParams;
}

async function Results({ filters, search, params }: ResultsProps) {
  const { db } = await getRuntime();
  const conditions = await toInvoiceConditions(db, filters);
  const found = conditions && (await listInvoices(db, { ...conditions, ...toPageRequest(search) }));
  const page = found && { ...found, data: await addMoneyBack(db, found.data) };
  return (
    <CountedList
      page={page}
      noun="invoice"
      yet="They appear here as soon as one is written."
      {...{ path: PATH, params, fields: FIELDS }}
    >
      {(invoices) => <InvoiceList invoices={invoices} />}
    </CountedList>
  );
}
