import type { RecordState } from '@/lib/records/read-state';
import type { ServiceDetails } from '@/lib/services/get-service';
import { serviceSteps } from '@/lib/services/typed-service';
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
