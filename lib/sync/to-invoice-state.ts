import type { invoices } from '@/db/schema';
import { earliest, toCalendarDate } from '../dates';
import type { ProviderInvoice } from '../stripe/provider';
import type { SyncContext } from './context';

export type StoredInvoice = typeof invoices.$inferSelect;

/** Our columns for a state of Stripe's. */
export function toInvoiceState(
  ctx: Pick<SyncContext, 'now' | 'timeZone' | 'warnings'>,
  held: StoredInvoice,
  provider: ProviderInvoice,
) {
  const { currency, subtotal, tax, total, number } = provider;
  const due_date = provider.dueAt ? toCalendarDate(provider.dueAt, ctx.timeZone) : null;
  const payment_failed_at = firstOf(held.payment_failed_at, provider.paymentFailed ? ctx.now : null);
  return {
    number,
    status: toStatus(ctx, { ...held, due_date, payment_failed_at }, provider),
    invoice_date: provider.issuedAt ? toCalendarDate(provider.issuedAt, ctx.timeZone) : held.invoice_date,
    due_date,
    currency,
    subtotal,
    tax,
    total,
    amount_paid: provider.amountPaid,
    amount_due: provider.amountDue,
    paid_at: provider.paidAt ?? (provider.status === 'paid' ? held.paid_at : null),
    payment_failed_at,
    uncollectible: provider.status === null ? held.uncollectible : provider.status === 'uncollectible',
    amount_off_stripe: provider.amountOffStripe ?? knownOffStripe(held, provider),
    stripe_customer_id: held.stripe_customer_id ?? provider.customer?.stripeCustomerId ?? null,
  };
}

/** What is known of an amount holds until another is paid. */
function knownOffStripe(held: StoredInvoice, { amountPaid }: ProviderInvoice): string | null {
  return Number(held.amount_paid) === Number(amountPaid) ? held.amount_off_stripe : null;
}

function toStatus(
  ctx: Parameters<typeof toInvoiceState>[0],
  held: StoredInvoice,
  provider: ProviderInvoice,
): StoredInvoice['status'] {
  switch (provider.status) {
    case 'draft':
      return 'draft';
    case 'paid':
      return 'paid';
    case 'void':
      return 'cancelled';
    case 'uncollectible':
      return 'overdue';
    case 'open': {
      const today = toCalendarDate(ctx.now, ctx.timeZone);
      const isPastDue = held.due_date !== null && held.due_date < today;
      return isPastDue || held.payment_failed_at ? 'overdue' : 'sent';
    }
    default:
      ctx.warnings.push(`unknown invoice status ${provider.providerStatus}`);
      return outranked(held.status, held.payment_failed_at);
  }
}

/** A failed payment makes a sent invoice overdue; paid and cancelled outrank it. */
export function outranked(status: StoredInvoice['status'], failedAt: Date | null): StoredInvoice['status'] {
  return status === 'sent' && failedAt ? 'overdue' : status;
}

/** The earlier of two instants that may not be known. */
export function firstOf(a: Date | null, b: Date | null): Date | null {
  return a && b ? earliest(a, b) : (a ?? b);
}
