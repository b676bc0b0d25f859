import type { RecordState } from '@/lib/records/read-state';
import type { ServiceDetails } from '@/lib/services/get-service';
import { serviceSteps } from '@/lib/services/typed-service';
import { actionsOf } from '../../_components/record/actions-of';
import { RecordActions } from '../../_components/record/record-actions';
import { PATH } from '../path';
import { remove, step } from './actions';
import { STEPS } from './step-text';

/** What staff can do with a service. */
export function ServiceActions({ service, state }: { service: ServiceDetails; state: RecordState }) {
  const { id, name, service_number } = service;
  return (
    <RecordActions
      noun="service"
      name={`${name}, ${service_number}`}
      edit={`${PATH}/${id}/edit`}
      steps={actionsOf(serviceSteps, STEPS, service, state.version, step)}
      remove={state.isReferredTo ? null : remove.bind(null, id, state.version)}
    />
  );
}
