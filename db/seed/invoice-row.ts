import { toMinorUnits } from '@/lib/money';
import { amountText } from './catalogue';
import { placeOf } from './places';
import type { CustomerRow, InvoiceRow } from './rows';

interface Opening {
  status: InvoiceRow['status'];
  invoice_date: string;
  due_date: string | null;
  /** Paid so far, in minor units; a paid invoice needs none. */
  partMinor?: number;
  paid_at?: Date;
}

/** An invoice whose amounts agree with its status; id and number come when all are known. */
export function invoiceRow(customer: CustomerRow, netMinor: number, opening: Opening): InvoiceRow {
  const { status, invoice_date, due_date } = opening;
  const { partMinor = 0, paid_at = null } = opening;
  const amounts = amountsOf(customer, netMinor);
  const total = toMinorUnits(amounts.total, customer.currency);
  const paid = status === 'paid' ? total : partMinor;
  return {
    id: 0,
    number: null,
    customer_id: customer.id,
    subscription_id: null,
    status,
    invoice_date,
    due_date,
    ...amounts,
    amount_paid: amountText(paid, customer.currency),
    amount_due: amountText(status === 'cancelled' ? 0 : total - paid, customer.currency),
    paid_at,
    payment_failed_at: null,
    uncollectible: false,
    amount_off_stripe: null,
    amount_credited: '0',
    balance_applied: null,
    collected_by_payment_id: null,
    stripe_invoice_id: null,
    stripe_customer_id: null,
    stripe_synced_at: null,
    provider_as_of: null,
    provider_gone_at: null,
    recheck_at: null,
  };
}

/** Net, tax and gross as our columns take them. */
export function amountsOf(customer: CustomerRow, netMinor: number) {
  const { currency } = customer;
  const tax = Math.round((netMinor * taxRate(customer)) / 100);
  return {
    currency,
    subtotal: amountText(netMinor, currency),
    tax: amountText(tax, currency),
    total: amountText(netMinor + tax, currency),
  };
}

/** Per cent. Companies elsewhere in the Union pay it at home (reverse charge), others outside not at all. */
export function taxRate({ country, vat_id, tax_exempt }: CustomerRow): number {
  const { vatRate } = placeOf(country);
  if (tax_exempt || vatRate === null) return 0;
  return country !== 'DE' && vat_id ? 0 : vatRate;
}
