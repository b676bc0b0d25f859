import { StatusBadge } from '@/app/admin/_components/display/status';
import { nextBilling } from '@/app/admin/_components/display/values';
import { ALONE, RecordActions } from '@/app/admin/_components/forms/record/record-actions';
import { RecordList } from '@/app/admin/_components/lists/record-list';
import { Section } from '@/app/admin/_components/page/section';
import type { RecordState } from '@/lib/records/steps';
import { getRuntime } from '@/lib/runtime';
import type { ServiceDetails } from '@/lib/services/queries';
import { serviceSteps } from '@/lib/services/save-services';
import { listSubscriptionsOfService } from '@/lib/subscriptions/queries';

/** The actions of a service. */
export function ServiceActions({ service, state }: { service: ServiceDetails; state: RecordState }) {
  return (
    <RecordActions
      kind="service"
      steps={serviceSteps}
      texts={STEPS}
      record={{ ...service, version: state.version }}
      noun="service"
      name={`${service.name}, ${service.service_number}`}
      edit={{ href: `/admin/services/${service.id}/edit` }}
      removal={state.isReferredTo ? null : ALONE}
    />
  );
}

const STRIPE = 'Nothing changes at Stripe: a subscription there continues.';

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

export const DONE = {
  created: 'The service is created.',
  saved: 'Your changes are saved.',
  activate: 'The service is active.',
  suspend: 'The service is suspended.',
  resume: 'The service is active again.',
  cancel: 'The service is cancelled.',
  terminate: 'The service is terminated.',
};

export const KEPT =
  'Other records refer to this service, so it cannot be deleted. Cancel or terminate it instead.';

/** The subscriptions that bill a service. */
export async function ServiceBilling({ serviceId }: { serviceId: number }) {
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
