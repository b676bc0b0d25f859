import type { InvoiceDetails } from '@/lib/invoices/queries';
import { isUnpaid } from '@/lib/overdue';

type Invoice = Pick<InvoiceDetails, 'status' | 'stripe_invoice_id'>;

// Kept apart from components, since importing a component also loads its scripts.

export const isOwnDraft = ({ status, stripe_invoice_id }: Invoice): boolean =>
  status === 'draft' && stripe_invoice_id === null;

export const isOwnUnpaid = ({ status, stripe_invoice_id }: Invoice): boolean =>
  isUnpaid(status) && stripe_invoice_id === null;
