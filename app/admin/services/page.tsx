import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { listServices } from '@/lib/services/queries';
import {
  SERVICE_STATUSES,
  SERVICE_TYPES,
  type ServiceStaffFilters,
  serviceStaffFilters,
  toServiceConditions,
} from '@/lib/services/staff-filters';
import { type SearchParams, toPageRequest, toParams } from '../../_components/search-params';
import { choiceOf } from '../_components/choice';
import { CountedList } from '../_components/counted-list';
import { ListPage } from '../_components/list-page';
import { parseFilters } from '../_components/parse-filters';
import { NewLink } from '../_components/record/new-link';
import { RecordNotice } from '../_components/record/record-notice';
import { ServiceList } from '../_components/service-list';
import { PATH } from './path';

export const metadata: Metadata = { title: 'Services' };

const FIELDS = [
  { name: 'customer', label: 'Customer', placeholder: 'Number' },
  { name: 'number', label: 'Number', placeholder: 'Whole, or #ID' },
  { name: 'domain', label: 'Domain', placeholder: 'Any part' },
  { name: 'type', label: 'Type', options: choiceOf(SERVICE_TYPES) },
  { name: 'status', label: 'Status', options: choiceOf(SERVICE_STATUSES) },
];

export default async function ServicesPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  const parsed = parseFilters(serviceStaffFilters, search);
  return (
    <ListPage
      title="Services"
      description="What customers rent, by number."
      actions={
        <NewLink href={`${PATH}/new`} customer={search.get('customer')}>
          New service
        </NewLink>
      }
      notice={<RecordNotice notice={search.get('notice')} done={{ deleted: 'The service is deleted.' }} />}
      noun="services"
      path={PATH}
      fields={FIELDS}
      parsed={parsed}
    >
      {(filters) => <Results filters={filters} search={search} params={parsed.params} />}
    </ListPage>
  );
}

interface ResultsProps {
  filters: ServiceStaffFilters;
  search: URLSearchParams;
  params: URLSearchParams;
}

async function Results({ filters, search, params }: ResultsProps) {
  const { db } = await getRuntime();
  const conditions = await toServiceConditions(db, filters);
  const page = conditions && (await listServices(db, { ...conditions, ...toPageRequest(search) }));
  return (
    <CountedList
      page={page}
      noun="service"
      yet="They appear here as soon as a customer has one."
      {...{ path: PATH, params, fields: FIELDS }}
    >
      {(services) => <ServiceList services={services} />}
    </CountedList>
  );
}
