import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { listServers } from '@/lib/servers/queries';
import type { SearchParams } from '../../../_components/search-params';
import { save } from '../../_components/forms/record/actions';
import { FormPage } from '../../_components/forms/record/form-page';
import { newFor } from '../../_components/forms/record/new-for';
import { serviceParts } from '../form-parts';

export const metadata: Metadata = { title: 'New service' };

export default async function NewServicePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const { typed, cancel, customer } = await newFor(searchParams, '/admin/services');
  const servers = await listServers((await getRuntime()).db);
  const running = servers.filter(({ status }) => status !== 'decommissioned');
  return (
    <FormPage
      title="New service"
      back={{ href: '/admin/services', label: 'Services' }}
      label="Service"
      action={save.bind(null, 'new_service', null)}
      parts={serviceParts(
        running.map(({ hostname }) => hostname),
        { isNew: true },
      )}
      record={{ version: null, typed: { ...typed, billing_interval: 'month', status: 'draft' } }}
      submit="Create service"
      cancel={cancel}
      customer={customer}
    />
  );
}
