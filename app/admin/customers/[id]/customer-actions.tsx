import { Group } from '@mantine/core';
import type { CustomerRow } from '@/lib/customers/schema';
import { customerSteps } from '@/lib/customers/typed-customer';
import type { RecordState } from '@/lib/records/read-state';
import { LinkButton } from '../../../_components/links';
import { actionsOf } from '../../_components/record/actions-of';
import { RecordActions } from '../../_components/record/record-actions';
import { PATH } from '../path';
import { remove, step } from './actions';
import { STEPS } from './step-text';

interface Props {
  customer: CustomerRow;
  state: RecordState;
  mayMerge: boolean;
}

/** What staff can do with a customer. */
export function CustomerActions({ customer, state, mayMerge }: Props) {
  const { id, name, customer_number } = customer;
  return (
    <Group gap="xs">
      <RecordActions
        noun="customer"
        name={[name, customer_number].filter(Boolean).join(', ')}
        edit={`${PATH}/${id}/edit`}
        steps={actionsOf(customerSteps, STEPS, customer, state.version, step)}
        remove={state.isReferredTo ? null : remove.bind(null, id, state.version)}
      />
      {mayMerge && (
        <LinkButton href={`${PATH}/${id}/merge`} size="sm" variant="default">
          Merge with another customer…
        </LinkButton>
      )}
    </Group>
  );
}
