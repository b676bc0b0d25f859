import type { CustomerRow } from '@/lib/customers/schema';
import { customerSteps } from '@/lib/customers/typed-customer';
import type { RecordState } from '@/lib/records/read-state';
import { actionsOf } from '../../_components/record/actions-of';
import { RecordActions } from '../../_components/record/record-actions';
import { PATH } from '../path';
import { remove, step } from './actions';
import { STEPS } from './step-text';

/** What staff can do with a customer. */
export function CustomerActions({ customer, state }: { customer: CustomerRow; state: RecordState }) {
  const { id, name, customer_number } = customer;
  return (
    <RecordActions
      noun="customer"
      name={[name, customer_number].filter(Boolean).join(', ')}
      edit={`${PATH}/${id}/edit`}
      steps={actionsOf(customerSteps, STEPS, customer, state.version, step)}
      remove={state.isReferredTo ? null : remove.bind(null, id, state.version)}
    />
  );
}
