import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { getCustomer } from '@/lib/customers/queries';
import { getRuntime } from '@/lib/runtime';
import { listServers } from '@/lib/servers/queries';
import { type SearchParams, toParams } from '../../../_components/search-params';
import { FormPage } from '../../_components/record/form-page';
import { serviceParts } from '../form-parts';
import { PATH } from '../path';
import { create } from './actions';

export const metadata: Metadata = { title: 'New service' };

export default async function NewServicePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const number = toParams(await searchParams).get('customer');
  const { db } = await getRuntime();
  const customer = number === null ? null : await getCustomer(db, { customer_number: number });
  const servers = await listServers(db);
  const running = servers.filter(({ status }) => status !== 'decommissioned');
  const typed = {
    customer_number: number ?? '',
    currency: (customer?.currency ?? 'eur').toUpperCase(),
    billing_interval: 'month',
    status: 'draft',
  };
  return (
    <FormPage
      title="New service"
      back={{ href: PATH, label: 'Services' }}
      label="Service"
      action={create}
      parts={serviceParts(
        running.map(({ hostname }) => hostname),
        { isNew: true },
      )}
      record={{ version: null, typed }}
      submit="Create service"
      cancel={customer ? `/admin/customers/${customer.id}` : PATH}
    />
  );
}
