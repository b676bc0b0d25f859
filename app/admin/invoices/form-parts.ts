import type { InvoiceDetails } from '@/lib/invoices/queries';
import { isUnpaid } from '@/lib/overdue';
import type { FormPart } from '../_components/forms/record/record-form';
import { currencyField } from '../_components/forms/record/suggestions';

/** Returns the form fields of a draft invoice. */
export const invoiceParts = ({ isNew }: { isNew: boolean }): FormPart[] => [
  {
    title: 'Invoice',
    fields: [
      { name: 'customer_number', label: 'Customer', kind: 'customer', required: true },
      currencyField(),
      {
        name: 'invoice_date',
        label: 'Date',
        type: 'date',
        required: !isNew,
        description: `${isNew ? 'Leave empty for today. ' : ''}The invoice cannot be issued before this day.`,
      },
      {
        name: 'due_date',
        label: 'Due',
        type: 'date',
        description: 'Leave empty for 14 days after the date.',
      },
    ],
  },
  { title: 'Lines', hasLines: true },
];

/** The form field of an issued, unpaid invoice that Stripe does not manage. Staff can edit only its due date. */
export const DUE_DATE: FormPart[] = [
  {
    title: 'Due date',
    fields: [
      { name: 'due_date', label: 'Due', type: 'date', description: 'Leave empty if it is due at once.' },
    ],
  },
];

type Invoice = Pick<InvoiceDetails, 'status' | 'stripe_invoice_id'>;

// Keep these functions out of component files, because an import from there would also load the component's scripts.
// “Own” means that Stripe does not manage the invoice.

export const isOwnDraft = ({ status, stripe_invoice_id }: Invoice): boolean =>
  status === 'draft' && stripe_invoice_id === null;

export const isOwnUnpaid = ({ status, stripe_invoice_id }: Invoice): boolean =>
  isUnpaid(status) && stripe_invoice_id === null;
