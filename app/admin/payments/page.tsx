import { Button, Group, Paper } from '@mantine/core';
import { IconDownload, IconPlus } from '@tabler/icons-react';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { listPaymentsForStaff } from '@/lib/payments/list-for-staff';
import { PAYMENT_STATUSES } from '@/lib/payments/payment-context';
import { type StaffFilters, staffFilters } from '@/lib/payments/staff-filters';
import { getRuntime } from '@/lib/runtime';
import { formatField } from '../../_components/format';
import { LinkButton, TextLink } from '../../_components/links';
import { type SearchParams, toParams, withParams } from '../../_components/search-params';
import { FilterBar } from '../_components/filter-bar';
import { Nothing } from '../_components/nothing';
import { PageHeader } from '../_components/page-header';
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
    options: PAYMENT_STATUSES.map((value) => ({ value, label: formatField(value) })),
  },
  { name: 'from', label: 'From', type: 'date' as const },
  { name: 'to', label: 'To', type: 'date' as const },
];

export default async function PaymentsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  const { filters, problems, params } = parseFilters(staffFilters, search);
  return (
    <>
      <PageHeader
        title="Payments"
        actions={
          <Group gap="xs">
            {filters && <DownloadButton params={params} />}
            <LinkButton href={`${PATH}/new`} size="sm" leftSection={<IconPlus size={16} aria-hidden />}>
              Record payment
            </LinkButton>
          </Group>
        }
      />
      <DeletedNotice id={search.get('deleted')} />
      <FilterBar
        key={params.toString()}
        label="Filter payments"
        path={PATH}
        fields={FIELDS}
        values={Object.fromEntries(params)}
        problems={problems}
      />
      {filters && <Results filters={filters} search={search} params={params} />}
    </>
  );
}

/** A plain link: the router would take the file for a page, and fetch it in advance. */
function DownloadButton({ params }: { params: URLSearchParams }) {
  return (
    <Button
      component="a"
      href={withParams(`${PATH}/export`, params, { per_page: null })}
      variant="default"
      size="sm"
      leftSection={<IconDownload size={16} stroke={1.8} aria-hidden />}
    >
      Download CSV
    </Button>
  );
}

interface ResultsProps {
  filters: StaffFilters;
  search: URLSearchParams;
  params: URLSearchParams;
}

async function Results({ filters, search, params }: ResultsProps) {
  const { db } = await getRuntime();
  const [after, before] = [search.get('after') ?? undefined, search.get('before') ?? undefined];
  const page = await listPaymentsForStaff(db, filters, { after, before });
  const sorting = { sort: filters.sort, to: (sort: string) => withParams(PATH, params, { sort }) };
  return (
    <>
      <Paper withBorder radius="lg" mt="lg" style={{ overflow: 'hidden' }}>
        {page.data.length > 0 ? (
          <PaymentList payments={page.data} sorting={sorting} />
        ) : (
          <NoPayments isFirst={!after && !before} params={params} />
        )}
      </Paper>
      {page.count > 0 && <ListFooter page={page} perPage={filters.per_page} params={params} />}
    </>
  );
}

function NoPayments({ isFirst, params }: { isFirst: boolean; params: URLSearchParams }) {
  if (!isFirst) {
    const first = <TextLink href={withParams(PATH, params, {})}>To the first page</TextLink>;
    return <Nothing title="No more payments" text="The list ends before this page." action={first} />;
  }
  if (FIELDS.some(({ name }) => params.has(name)))
    return <Nothing title="No payments found" text="None matches these filters." />;
  return <Nothing title="No payments yet" text="They appear here as soon as one is recorded." />;
}
