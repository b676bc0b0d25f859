import { TextLink } from '../../../_components/links';
import { invoiceName } from './invoice-list';

/** Leads from a record to its invoice. */
export function InvoiceLink({ invoice }: { invoice: Parameters<typeof invoiceName>[0] }) {
  return <TextLink href={`/admin/invoices/${invoice.id}`}>{invoiceName(invoice)}</TextLink>;
}
