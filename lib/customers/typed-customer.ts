import type { SteppedKind } from '../records/take-step';
import type { TypedKind } from '../records/typed-fields';
import { customerKind } from './save-customers';

/** A customer as a form has it; its status changes by steps. */
export const typedCustomer = {
  kind: customerKind,
  fields: {
    customer_number: 'text',
    company: 'text',
    first_name: 'text',
    last_name: 'text',
    email: 'text',
    phone: 'text',
    street: 'text',
    postal_code: 'text',
    city: 'text',
    country: 'country',
    vat_id: 'text',
    tax_exempt: 'flag',
    currency: 'currency',
  },
} satisfies TypedKind;

/** Files may also say `blocked`, which means no more than `inactive` does: staff only deactivate. */
export const customerSteps = {
  kind: customerKind,
  steps: {
    reactivate: { from: ['inactive', 'blocked'], to: 'active' },
    deactivate: { from: ['active', 'blocked'], to: 'inactive' },
  },
} satisfies SteppedKind;
