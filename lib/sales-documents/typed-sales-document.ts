import type { SteppedKind } from '../records/take-step';
import type { TypedKind } from '../records/typed-fields';
import { DOCUMENT_STEPS } from './document-steps';
import { salesDocumentKind } from './save-sales-documents';

/** A draft of a sales document as a form has it. */
export const typedSalesDocument = {
  kind: salesDocumentKind,
  fields: {
    customer_number: 'text',
    currency: 'currency',
    document_date: 'text',
    valid_until: 'text',
    lines: 'lines',
  },
} satisfies TypedKind;

/** The same of a new one, whose number follows from its type. */
export const typedNewSalesDocument = {
  kind: salesDocumentKind,
  fields: { type: 'text', ...typedSalesDocument.fields },
} satisfies TypedKind;

export const salesDocumentSteps = {
  kind: salesDocumentKind,
  steps: DOCUMENT_STEPS,
} satisfies SteppedKind;
