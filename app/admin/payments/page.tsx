import { Group } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { listPaymentsForStaff } from '@/lib/payments/list-for-staff';
import { PAYMENT_STATES, type StaffFilters, staffFilters } from '@/lib/payments/staff-filters';
import { getRuntime } from '@/lib/runtime';
import { LinkButton } from '../../_components/links';
import { type SearchParams, toPageStart, toParams, withParams } from '../../_components/search-params';
import { choiceOf } from '../_components/choice';
import { CursorList } from '../_components/cursor-list';
import { DownloadButton } from '../_components/download-button';
import { ListPage } from '../_components/list-page';
import { parseFilters } from '../_components/parse-filters';
import { PaymentList } from '../_components/payment-list';
import { DeletedNotice } from './deleted-notice';
import { ListFooter } from './list-footer';
import { PATH } from './path';

export const metadata: Metadata = { title: 'Payments' };

const FIELDS = [
  { name: 'customer', label: 'Customer', placeholder: 'Number, name, e-mail' },
  { name: 'invoice', label: 'Invoice', placeholder: 'Number or #ID' },
  { name: 'reference', label: 'Reference', placeholder: 'Any part' },
  {
    name: 'status',
    label: 'Status',
    options: choiceOf(PAYMENT_STATES),
  },
  { name: 'from', label: 'From', type: 'date' as const },
  { name: 'to', label: 'To', type: 'date' as const },
];

export default async function PaymentsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  const parsed = parseFilters(staffFilters, search);
  return (
    <ListPage
      title="Payments"
      actions={
        <Group gap="xs">
          {parsed.filters && (
            <DownloadButton href={withParams(`${PATH}/export`, parsed.params, { per_page: null })} />
          )}
          <LinkButton href={`${PATH}/new`} size="sm" leftSection={<IconPlus size={16} aria-hidden />}>
            Record payment
          </LinkButton>
        </Group>
      }
      notice={<DeletedNotice id={search.get('deleted')} />}
      noun="payments"
      path={PATH}
      fields={FIELDS}
      parsed={parsed}
    >
      {(filters) => <Results filters={filters} search={search} params={parsed.params} />}
    </ListPage>
  );
}

interface ResultsProps {
  filters: StaffFilters;
  search: URLSearchParams;
  params: URLSearchParams;
}

async function Results({ filters, search, params }: ResultsProps) {
  const { db } = await getRuntime();
  const start = toPageStart(search);
  const page = await listPaymentsForStaff(db, filters, start);
  const sorting = { sort: filters.sort, to: (sort: string) => withParams(PATH, params, { sort }) };
  return (
    <CursorList
      noun="payments"
      yet="They appear here as soon as one is recorded."
      {...{ page, start, path: PATH, params, fields: FIELDS }}
      footer={page.count > 0 && <ListFooter page={page} perPage={filters.per_page} params={params} />}
    >
      {(payments) => <PaymentList payments={payments} sorting={sorting} />}
    </CursorList>
  );
}
