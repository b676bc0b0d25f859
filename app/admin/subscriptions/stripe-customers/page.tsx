import { Suspense } from 'react';
import { formatCustomer } from '@/app/_components/format';
import { SideButton } from '@/app/_components/links';
import { toPageStart } from '@/app/_components/search-params';
import type { PageStart } from '@/lib/page-query';
import { getRuntime } from '@/lib/runtime';
import { listCreatedForStripe } from '@/lib/sync/staff/stripe-customers';
import { Instant } from '../../_components/display/values';
import { ListSkeleton, PagedList } from '../../_components/lists/paged-list';
import { RecordList } from '../../_components/lists/record-list';
import { PageHeader, staffPage } from '../../_components/page/staff-page';
import { CustomerName } from '../../_components/records/customer-link';

export const metadata = { title: 'Customers created from Stripe' };

const PATH = '/admin/subscriptions/stripe-customers';
const ROWS = 25;

export default staffPage(async ({ search }) => (
  <>
    <PageHeader
      back={{ href: '/admin/subscriptions', label: 'Subscriptions' }}
      title={metadata.title}
      description="No customer matched. Confirm that each is new, or link it to an existing customer."
      actions={<SideButton href={`${PATH}/proposals`}>Matched by e-mail</SideButton>}
    />
    <Suspense fallback={<ListSkeleton />}>
      <Results start={toPageStart(search)} />
    </Suspense>
  </>
));

async function Results({ start }: { start: PageStart }) {
  const { db, env } = await getRuntime();
  const page = await listCreatedForStripe(db, { ...start, limit: ROWS });
  return (
    <PagedList
      noun="customer"
      yet="Every Stripe customer is linked to a customer."
      {...{ page, start, path: PATH, params: new URLSearchParams() }}
    >
      {(rows) => (
        <RecordList
          label={metadata.title}
          rows={rows.map((row) => ({ ...row, id: row.stripe_customer_id }))}
          hrefOf={({ id }) => `${PATH}/${id}`}
          columns={[
            { label: 'Customer', cell: ({ customer }) => <CustomerName customer={customer} /> },
            {
              label: 'E-mail',
              width: '28%',
              wraps: true,
              cell: ({ customer, same }) => withSame(customer.email, same),
            },
            { label: 'Stripe customer', width: '22%', cell: ({ id }) => id },
            {
              label: 'Created',
              width: '18%',
              cell: ({ created_at }) => <Instant at={created_at} timeZone={env.timeZone} />,
            },
          ]}
          entryOf={({ customer, created_at, same }) => ({
            title: formatCustomer(customer),
            detail: (
              <>
                {customer.email && `${withSame(customer.email, same)} · `}
                <Instant at={created_at} timeZone={env.timeZone} />
              </>
            ),
          })}
        />
      )}
    </PagedList>
  );
}

function withSame(email: string | null, same: string | null): string {
  return same ? `${email}, as ${same} has` : (email ?? '–');
}
