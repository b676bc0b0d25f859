import type { Metadata } from 'next';
import { Suspense } from 'react';
import { requireStaff } from '@/lib/auth/staff-session';
import type { PageStart } from '@/lib/cursor-page';
import { getRuntime } from '@/lib/runtime';
import { listCreatedForStripe } from '@/lib/sync/stripe-customer-queries';
import { type SearchParams, toPageStart, toParams } from '../../../_components/search-params';
import { CursorList } from '../../_components/cursor-list';
import { CustomerName } from '../../_components/customer-name';
import { Instant } from '../../_components/instant';
import { ListSkeleton } from '../../_components/list-skeleton';
import { PageHeader } from '../../_components/page-header';
import { RecordList } from '../../_components/record-list';

export const metadata: Metadata = { title: 'Customers created for Stripe' };

const PATH = '/admin/subscriptions/stripe-customers';
const ROWS = 25;

interface Props {
  searchParams: Promise<SearchParams>;
}

export default async function CreatedCustomersPage({ searchParams }: Props) {
  await requireStaff();
  const start = toPageStart(toParams(await searchParams));
  return (
    <>
      <PageHeader
        back={{ href: '/admin/subscriptions', label: 'Subscriptions' }}
        title="Customers created for Stripe"
        description="None of ours had their number or e-mail address. Say whether they are new, or whose they are."
      />
      <Suspense fallback={<ListSkeleton />}>
        <Results start={start} />
      </Suspense>
    </>
  );
}

async function Results({ start }: { start: PageStart }) {
  const { db, env } = await getRuntime();
  const page = await listCreatedForStripe(db, { ...start, limit: ROWS });
  return (
    <CursorList
      noun="customers to look at"
      yet="Every Stripe customer is known to be one of ours."
      {...{ page, start, path: PATH, params: new URLSearchParams() }}
    >
      {(rows) => (
        <RecordList
          label="Customers created for Stripe"
          rows={rows}
          keyOf={(row) => row.stripe_customer_id}
          hrefOf={(row) => `${PATH}/${row.stripe_customer_id}`}
          columns={[
            { label: 'Customer', cell: ({ customer }) => <CustomerName customer={customer} /> },
            { label: 'E-mail', width: '28%', cell: ({ customer }) => customer.email ?? '–' },
            { label: 'Stripe customer', width: '22%', cell: (row) => row.stripe_customer_id },
            {
              label: 'Created',
              width: '18%',
              cell: ({ created_at }) => <Instant at={created_at} timeZone={env.timeZone} />,
            },
          ]}
          entryOf={({ customer, created_at }) => ({
            title: customer.name || customer.customer_number,
            detail: (
              <>
                {customer.email && `${customer.email} · `}
                <Instant at={created_at} timeZone={env.timeZone} />
              </>
            ),
          })}
        />
      )}
    </CursorList>
  );
}
