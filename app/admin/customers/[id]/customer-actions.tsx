import { customerSteps } from '@/lib/customers/save-customers';
import type { CustomerRow } from '@/lib/customers/schema';
import type { RecordState } from '@/lib/records/steps';
import { LinkButton } from '../../../_components/links';
import { ALONE, RecordActions } from '../../_components/forms/record/record-actions';
import { STEPS } from './step-text';

interface Props {
  customer: CustomerRow;
  state: RecordState;
  isAdmin: boolean;
}

/** What staff can do with a customer. */
export function CustomerActions({ customer, state, isAdmin }: Props) {
  const { id, name, customer_number } = customer;
  return (
    <RecordActions
      kind="customer"
      steps={customerSteps}
      texts={STEPS}
      record={{ ...customer, version: state.version }}
      noun="customer"
      name={[name, customer_number].filter(Boolean).join(', ')}
      edit={{ href: `/admin/customers/${id}/edit` }}
      removal={state.isReferredTo ? null : ALONE}
      grave={
        isAdmin
          ? [
              <LinkButton key="merge" href={`/admin/customers/${id}/merge`} size="sm" variant="default">
                Merge with another customer…
              </LinkButton>,
              <LinkButton key="erase" href={`/admin/customers/${id}/erase`} size="sm" variant="default">
                Erase…
              </LinkButton>,
            ]
          : []
      }
    />
  );
}
