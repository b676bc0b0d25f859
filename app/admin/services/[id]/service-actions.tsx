import type { RecordState } from '@/lib/records/steps';
import type { ServiceDetails } from '@/lib/services/queries';
import { serviceSteps } from '@/lib/services/save-services';
import { ALONE, RecordActions } from '../../_components/forms/record/record-actions';
import { STEPS } from './step-text';

/** What staff can do with a service. */
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
