import { notFound } from 'next/navigation';
import { requireAdmin } from '@/lib/auth/session/staff-session';
import { getCustomer } from '@/lib/customers/queries';
import { getRuntime } from '@/lib/runtime';
import { compareCustomers } from '@/lib/sync/staff/merge-customers';
import { orNotFound } from '../../../../_components/or-not-found';
import { type SearchParams, toId, toParams } from '../../../../_components/search-params';
import { CustomerSearch } from '../../../_components/forms/customer-search/customer-search';
import { Notice } from '../../../_components/page/notice';
import { PageHeader } from '../../../_components/page/page-header';
import { Section } from '../../../_components/page/section';
import { titleOfRow } from '../../../_components/page/title-of';
import { MergeQuestion } from './merge-question';

export const generateMetadata = titleOfRow('Merge customers', async (db, id) => {
  const customer = await getCustomer(db, { id });
  return customer && `Merge ${customer.name || customer.customer_number}`;
});

const REFUSED = new Map([
  [
    'conflict',
    'Somebody else changed one of them meanwhile, so nothing was merged. These are the current versions.',
  ],
  ['not_found', 'One of them no longer exists, so nothing was merged.'],
]);

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

/** Looks for the customer that is the same as this one, and asks before the two become one. */
export default async function MergePage({ params, searchParams }: Props) {
  await requireAdmin();
  const id = toId((await params).id) ?? notFound();
  const query = toParams(await searchParams);
  const { db } = await getRuntime();
  const customer = (await getCustomer(db, { id })) ?? notFound();
  const to = toId(query.get('to') ?? '');
  const other = to === null ? null : await getCustomer(db, { id: to });
  const isSame = other?.id === customer.id;
  const path = `/admin/customers/${customer.id}/merge`;
  const refused = isSame ? 'That is the same customer.' : REFUSED.get(query.get('notice') ?? '');
  return (
    <>
      <PageHeader
        back={{ href: `/admin/customers/${customer.id}`, label: `Customer ${customer.customer_number}` }}
        title="Merge customers"
        description={[customer.name, customer.customer_number].filter(Boolean).join(' · ')}
      />
      {refused && <Notice tone="refused">{refused}</Notice>}
      {other && !isSame ? (
        <MergeQuestion
          comparison={await orNotFound(compareCustomers(db, { kept: customer.id, gone: other.id }))}
        />
      ) : (
        <Section title="Which customer is the same?">
          <CustomerSearch path={path} query={query.get('q')} />
        </Section>
      )}
    </>
  );
}
