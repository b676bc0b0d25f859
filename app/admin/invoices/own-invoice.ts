import type { InvoiceDetails } from '@/lib/invoices/get-invoice';
import { isUnpaid } from '@/lib/overdue';

type Invoice = Pick<InvoiceDetails, 'status' | 'stripe_invoice_id'>;

// Apart from what shows them: whoever imports a component loads its scripts too.

export const isOwnDraft = ({ status, stripe_invoice_id }: Invoice): boolean =>
  status === 'draft' && stripe_invoice_id === null;

export const isOwnUnpaid = ({ status, stripe_invoice_id }: Invoice): boolean =>
  isUnpaid(status) && stripe_invoice_id === null;
