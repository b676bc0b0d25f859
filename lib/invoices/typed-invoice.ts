import type { SteppedKind } from '../records/take-step';
import type { TypedKind } from '../records/typed-fields';
import { invoiceKind } from './save-invoices';

/** A draft of an invoice as a form has it. */
export const typedInvoice = {
  kind: invoiceKind,
  fields: {
    customer_number: 'text',
    currency: 'currency',
    invoice_date: 'text',
    due_date: 'text',
    lines: 'lines',
  },
} satisfies TypedKind;

/** All that a form changes of one that was sent. */
export const typedDueDate = { kind: invoiceKind, fields: { due_date: 'text' } } satisfies TypedKind;

/** The statuses of an own invoice. Its payments tell what is paid. */
export const invoiceSteps = {
  kind: invoiceKind,
  steps: {
    send: { from: ['draft'], to: 'sent' },
    cancel: { from: ['sent', 'overdue'], to: 'cancelled' },
  },
} satisfies SteppedKind;
