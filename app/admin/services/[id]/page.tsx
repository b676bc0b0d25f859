import { Suspense } from 'react';
import { formatDate, formatField } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { type RecordState, readState } from '@/lib/records/steps';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { getService, type ServiceDetails } from '@/lib/services/queries';
import { serviceKind } from '@/lib/services/save-services';
import { listSubscriptionsOfService } from '@/lib/subscriptions/queries';
import { History } from '../../_components/audit/audit-trail';
import { Instant, nextBilling, RecordTitle, StatusBadge } from '../../_components/display/values';
import { ALONE, RecordActions } from '../../_components/forms/record/record-actions';
import { RecordNotice } from '../../_components/forms/record/record-notice';
import { ListSkeleton } from '../../_components/lists/paged-list';
import { RecordList } from '../../_components/lists/record-list';
import { Columns, Page, recordPage, Section, titleOfRow } from '../../_components/page/staff-page';
import { CustomerSection } from '../../_components/records/customer-link';
import { Price } from '../../_components/records/service-list';

export const generateMetadata = titleOfRow('Service', getService, ({ domain, name }) => domain ?? name);

// Read the version first. If the service changes between the two reads, the page has the old version, so its actions
// are refused.
const read = async (db: Runtime['db'], id: number) => ({
  state: await readState(db, serviceKind, id),
  service: await getService(db, id),
});

export default recordPage(read, async ({ state, service }, { id, timeZone, notice }) => {
  return (
    <Page
      back={{ href: '/admin/services', label: 'Services' }}
      title={<RecordTitle status={service.status}>{service.domain ?? service.name}</RecordTitle>}
      description={`Service ${service.service_number}`}
      actions={<ServiceActions key={`${notice} ${state.version}`} service={service} state={state} />}
      notice={<RecordNotice notice={notice} done={DONE} />}
    >
      <Columns>
        <Section title="Service" facts={factsOf(service, timeZone)} />
        <CustomerSection
          customer={service.customer}
          all={{ path: '/admin/services', label: 'All services' }}
        />
      </Columns>
      {/* These sections share one Suspense boundary, because a section that arrives later would move the others. */}
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

function ServiceActions({ service, state }: { service: ServiceDetails; state: RecordState }) {
  return (
    <RecordActions
      kind="service"
      texts={STEPS}
      record={{ ...service, version: state.version }}
      name={`${service.name}, ${service.service_number}`}
      removal={state.isReferredTo ? null : ALONE}
    />
  );
}

const STRIPE = 'Nothing changes at Stripe: any subscription there continues.';

const STEPS = {
  activate: { label: 'Activate', question: 'Activate this service?', consequences: [STRIPE] },
  suspend: { label: 'Suspend', question: 'Suspend this service?', consequences: [STRIPE] },
  resume: {
    label: 'Resume',
    question: 'Resume this service?',
    consequences: [`It is active again. ${STRIPE}`],
  },
  cancel: {
    label: 'Cancel service',
    question: 'Cancel this service?',
    consequences: [`It counts as cancelled from now on. ${STRIPE}`],
    decline: 'Keep it',
    isGrave: true,
  },
  terminate: {
    label: 'Terminate',
    question: 'Terminate this service?',
    consequences: [`It cannot be resumed. ${STRIPE}`],
    isGrave: true,
  },
};

const DONE = {
  created: 'The service is created.',
  saved: 'Your changes are saved.',
  activate: 'The service is active.',
  suspend: 'The service is suspended.',
  resume: 'The service is active again.',
  cancel: 'The service is cancelled.',
  terminate: 'The service is terminated.',
};

const KEPT = 'Other records refer to this service, so it cannot be deleted. Cancel or terminate it instead.';

/** Lists the latest subscriptions that bill a service. */
async function ServiceBilling({ serviceId }: { serviceId: number }) {
  const { db, env } = await getRuntime();
  const subscriptions = await listSubscriptionsOfService(db, serviceId);
  return (
    <Section
      title="Billed by"
      none={subscriptions.length === 0 && 'No Stripe subscription bills this service.'}
    >
      <RecordList
        label="Subscriptions"
        rows={subscriptions}
        hrefOf={({ id }) => `/admin/subscriptions/${id}`}
        columns={[
          { label: 'Subscription', cell: nameOf },
          { label: 'Status', width: '20%', cell: ({ status }) => <StatusBadge status={status} /> },
          { label: 'Next billing', width: '20%', cell: (row) => nextBilling(row, env.timeZone) },
        ]}
        entryOf={(row) => ({
          title: nameOf(row),
          detail: `Next billing: ${nextBilling(row, env.timeZone)}`,
          state: <StatusBadge status={row.status} />,
        })}
      />
    </Section>
  );
}

type Row = Awaited<ReturnType<typeof listSubscriptionsOfService>>[number];

function nameOf({ stripe_subscription_id, id }: Row): string {
  return stripe_subscription_id ?? `#${id}`;
}
