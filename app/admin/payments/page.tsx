import { Button, Group, Paper } from '@mantine/core';
import { IconDownload, IconPlus } from '@tabler/icons-react';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { listPaymentsForStaff } from '@/lib/payments/list-for-staff';
import { PAYMENT_STATUSES } from '@/lib/payments/payment-context';
import type { StaffFilters } from '@/lib/payments/staff-filters';
import { getRuntime } from '@/lib/runtime';
import { LinkButton } from '../../_components/links';
import { type SearchParams, toPageRequest, toParams, withParams } from '../../_components/search-params';
import { Nothing } from '../_components/nothing';
import { PageHeader } from '../_components/page-header';
import { PaymentList } from '../_components/payment-list';
import { DeletedNotice } from './deleted-notice';
import { FilterForm } from './filter-form';
import { parseFilters } from './filters';
import { ListFooter } from './list-footer';
import { PATH } from './path';

export const metadata: Metadata = { title: 'Payments' };

export default async function PaymentsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  const { filters, problems, params, active } = parseFilters(search);
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
      <FilterForm
        key={params.toString()}
        statuses={PAYMENT_STATUSES}
        values={Object.fromEntries(params)}
        problems={problems}
      />
      {filters && <Results filters={filters} search={search} params={params} active={active} />}
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
  active: boolean;
}

async function Results({ filters, search, params, active }: ResultsProps) {
  const { db } = await getRuntime();
  const { per_page: limit } = toPageRequest(search);
  const [after, before] = [search.get('after') ?? undefined, search.get('before') ?? undefined];
  const page = await listPaymentsForStaff(db, filters, { after, before, limit });
  const sorting = { sort: filters.sort, to: (sort: string) => withParams(PATH, params, { sort }) };
  return (
    <>
      <Paper withBorder radius="lg" mt="lg" style={{ overflow: 'hidden' }}>
        {page.data.length > 0 ? (
          <PaymentList payments={page.data} sorting={sorting} />
        ) : (
          <NoPayments isFirst={!after && !before} active={active} />
        )}
      </Paper>
      <ListFooter page={page} perPage={limit} params={params} />
    </>
  );
}

function NoPayments({ isFirst, active }: { isFirst: boolean; active: boolean }) {
  if (!isFirst) return <Nothing title="No more payments" text="The list ends before this page." />;
  if (active) return <Nothing title="No payments found" text="None matches these filters." />;
  return <Nothing title="No payments yet" text="They appear here as soon as one is recorded." />;
}
