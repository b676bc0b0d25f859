import { Suspense } from 'react';
import { formatDate, formatField } from '@/app/_components/format';
import { readState } from '@/lib/records/steps';
import { getService, type ServiceDetails } from '@/lib/services/queries';
import { serviceKind } from '@/lib/services/save-services';
import { TextLink } from '../../../_components/links';
import { orNotFound } from '../../../_components/or-not-found';
import { History } from '../../_components/audit/audit-trail';
import { RecordTitle } from '../../_components/display/status';
import { Instant } from '../../_components/display/values';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { ListSkeleton } from '../../_components/lists/list-skeleton';
import { Columns, Page } from '../../_components/page/page-header';
import { Section } from '../../_components/page/section';
import { rowIdIn, staffPage } from '../../_components/page/staff-page';
import { titleOfRow } from '../../_components/page/title-of';
import { CustomerSection } from '../../_components/records/customer-link';
import { Price } from '../../_components/records/service-list';
import { DONE, KEPT, ServiceActions, ServiceBilling } from './service-parts';

export const generateMetadata = titleOfRow('Service', async (db, id) => {
  const { domain, name } = await getService(db, id);
  return domain ?? name;
});

export default staffPage<{ id: string }>(async ({ params, runtime: { db, env }, search }) => {
  const id = rowIdIn(params);
  const state = await orNotFound(readState(db, serviceKind, id));
  const service = await orNotFound(getService(db, id));
  const notice = search.get('notice');
  return (
    <Page
      back={{ href: '/admin/services', label: 'Services' }}
      title={<RecordTitle status={service.status}>{service.domain ?? service.name}</RecordTitle>}
      description={`Service ${service.service_number}`}
      actions={<ServiceActions key={`${notice} ${state.version}`} service={service} state={state} />}
      notice={<RecordNotice notice={notice} done={DONE} />}
    >
      <Columns>
        <Section title="Service" facts={factsOf(service, env.timeZone)} />
        <CustomerSection
          customer={service.customer}
          all={{ path: '/admin/services', label: 'All services' }}
        />
      </Columns>
      {/* One boundary for all sections, since a section that arrives later would move the others. */}
      <Suspense fallback={<ListSkeleton rows={1} />}>
        <ServiceBilling serviceId={id} />
        <History entity="service" id={id} kept={state.isReferredTo ? KEPT : null} />
      </Suspense>
    </Page>
  );
});

function factsOf(service: ServiceDetails, timeZone: string) {
  const { server, start_date, next_billing_date, ends_on, cancelled_at } = service;
  return {
    Number: service.service_number,
    Name: service.name,
    Type: formatField(service.service_type),
    Domain: service.domain,
    Server: server && <TextLink href={`/admin/servers/${server.id}`}>{server.hostname}</TextLink>,
    Price: <Price service={service} />,
    Since: start_date && formatDate(start_date),
    'Next billing': next_billing_date && formatDate(next_billing_date),
    'Ends on': ends_on ? formatDate(ends_on) : undefined,
    Cancelled: cancelled_at ? <Instant at={cancelled_at} timeZone={timeZone} /> : undefined,
    Updated: <Instant at={service.updated_at} timeZone={timeZone} />,
  };
}
