import { Alert, Paper } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { namePayments, PAYMENT_STATUSES } from '@/lib/payments/payment-context';
import { listPayments } from '@/lib/payments/queries';
import type { PaymentFilters } from '@/lib/payments/schema';
import { getRuntime } from '@/lib/runtime';
import { type SearchParams, toParams } from '../../_components/search-params';
import { Nothing } from '../_components/nothing';
import { PageHeader } from '../_components/page-header';
import { Pager } from '../_components/pager';
import { PaymentList } from '../_components/payment-list';
import { FilterForm } from './filter-form';
import { parsePaymentFilters } from './filters';

export const metadata: Metadata = { title: 'Payments' };

export default async function PaymentsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const params = toParams(await searchParams);
  const { filters, problems, active } = parsePaymentFilters(params);
  return (
    <>
      <PageHeader title="Payments" description="The newest first." />
      <FilterForm
        key={params.toString()}
        statuses={PAYMENT_STATUSES}
        values={Object.fromEntries(params)}
        problems={problems}
      />
      {filters ? (
        <Results filters={filters} params={params} active={active} />
      ) : (
        <Alert color="red" variant="light" mt="lg" role="alert">
          A filter is not valid:{' '}
          {Object.entries(problems)
            .map(([field, text]) => `${field} ${text}`)
            .join('; ')}
          .
        </Alert>
      )}
    </>
  );
}

interface ResultsProps {
  filters: PaymentFilters;
  params: URLSearchParams;
  active: boolean;
}

async function Results({ filters, params, active }: ResultsProps) {
  const { db } = await getRuntime();
  const page = await listPayments(db, filters);
  const payments = await namePayments(db, page.data);
  return (
    <>
      <Paper withBorder radius="lg" mt="lg" style={{ overflow: 'hidden' }}>
        {payments.length > 0 ? (
          <PaymentList payments={payments} />
        ) : (
          <NoPayments total={page.total} active={active} />
        )}
      </Paper>
      <Pager page={page} path="/admin/payments" params={params} noun="payment" />
    </>
  );
}

function NoPayments({ total, active }: { total: number; active: boolean }) {
  if (total > 0) return <Nothing title="There is no such page" text="The list ends before it." />;
  if (active) return <Nothing title="No payments found" text="None matches these filters." />;
  return <Nothing title="No payments yet" text="They appear here as soon as one is recorded." />;
}
