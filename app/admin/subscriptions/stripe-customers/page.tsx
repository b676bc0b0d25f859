import type { Metadata } from 'next';
import { Suspense } from 'react';
import { requireStaff } from '@/lib/auth/staff-session';
import type { PageStart } from '@/lib/cursor-page';
import { getRuntime } from '@/lib/runtime';
import { listCreatedForStripe } from '@/lib/sync/staff/stripe-customer-queries';
import { LinkButton } from '../../../_components/links';
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
        description="None of ours had their number. Say whether they are new, or whose they are."
        actions={
          <LinkButton href={`${PATH}/proposals`} size="sm" variant="default">
            With an e-mail address of ours
          </LinkButton>
        }
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
            {
              label: 'E-mail',
              width: '28%',
              wraps: true,
              cell: ({ customer, same }) => withSame(customer.email, same),
            },
            { label: 'Stripe customer', width: '22%', cell: (row) => row.stripe_customer_id },
            {
              label: 'Created',
              width: '18%',
              cell: ({ created_at }) => <Instant at={created_at} timeZone={env.timeZone} />,
            },
          ]}
          entryOf={({ customer, created_at, same }) => ({
            title: customer.name || customer.customer_number,
            detail: (
              <>
                {customer.email && `${withSame(customer.email, same)} · `}
                <Instant at={created_at} timeZone={env.timeZone} />
              </>
            ),
          })}
        />
      )}
    </CursorList>
  );
}

function withSame(email: string | null, same: string | null): string {
  return same ? `${email}, as ${same} has` : (email ?? '–');
}
