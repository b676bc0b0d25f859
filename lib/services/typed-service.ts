import type { SteppedKind } from '../records/take-step';
import type { TypedKind } from '../records/typed-fields';
import { serviceKind } from './save-services';

/** A service as a form has it. */
export const typedService = {
  kind: serviceKind,
  fields: {
    service_number: 'text',
    customer_number: 'text',
    service_type: 'text',
    name: 'text',
    domain: 'text',
    hostname: 'text',
    price: 'amount',
    currency: 'currency',
    billing_interval: 'text',
    start_date: 'text',
    next_billing_date: 'text',
    ends_on: 'text',
  },
} satisfies TypedKind;

/** The same of a new one, which may be sold or running already; later its status changes by steps. */
export const typedNewService = {
  kind: serviceKind,
  fields: { ...typedService.fields, status: 'text' },
} satisfies TypedKind;

/** A cancelled service can be taken up again; a terminated one is gone. */
export const serviceSteps = {
  kind: serviceKind,
  steps: {
    activate: { from: ['draft', 'order'], to: 'active' },
    suspend: { from: ['active'], to: 'suspended' },
    resume: { from: ['suspended', 'cancelled'], to: 'active' },
    cancel: { from: ['draft', 'order', 'active', 'suspended'], to: 'cancelled' },
    terminate: { from: ['active', 'suspended', 'cancelled'], to: 'terminated' },
  },
} satisfies SteppedKind;
