import { earliest, toCalendarDate } from '../../../dates';
import { keptStatus, unpaidStatus } from '../../../overdue';
import type { ProviderInvoice } from '../../../stripe/provider';
import type { StoredInvoice } from '../../store/rows';
import type { Draft } from '../draft';

export function toInvoiceState(
  draft: Pick<Draft, 'now' | 'timeZone' | 'warnings'>,
  stored: StoredInvoice,
  provider: ProviderInvoice,
) {
  const { currency, subtotal, tax, total, number } = provider;
  const due_date = provider.dueAt ? toCalendarDate(provider.dueAt, draft.timeZone) : null;
  const payment_failed_at = firstOf(stored.payment_failed_at, provider.paymentFailed ? draft.now : null);
  const status = toStatus(draft, { ...stored, due_date, payment_failed_at }, provider);
  return {
    number,
    status,
    invoice_date: provider.issuedAt ? toCalendarDate(provider.issuedAt, draft.timeZone) : stored.invoice_date,
    due_date,
    currency,
    subtotal,
    tax,
    total,
    amount_paid: provider.amountPaid,
    amount_due: status === 'cancelled' ? '0' : provider.amountDue,
    paid_at: provider.paidAt ?? (provider.status === 'paid' ? stored.paid_at : null),
    payment_failed_at,
    uncollectible: provider.status === null ? stored.uncollectible : provider.status === 'uncollectible',
    amount_off_stripe: provider.amountOffStripe ?? knownOffStripe(stored, provider),
    balance_applied: provider.balanceApplied,
    amount_credited: provider.amountCredited ?? stored.amount_credited,
    stripe_customer_id: stored.stripe_customer_id ?? provider.customer?.stripeCustomerId ?? null,
  };
}

/** The known amount holds until the paid amount changes. */
function knownOffStripe(stored: StoredInvoice, { amountPaid }: ProviderInvoice): string | null {
  return Number(stored.amount_paid) === Number(amountPaid) ? stored.amount_off_stripe : null;
}

function toStatus(
  draft: Parameters<typeof toInvoiceState>[0],
  stored: StoredInvoice,
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
    case 'open': {
      const owed = {
        due_date: stored.due_date,
        paymentFailed: stored.payment_failed_at !== null,
        uncollectible: provider.status === 'uncollectible',
      };
      return unpaidStatus(owed, toCalendarDate(draft.now, draft.timeZone));
    }
    default:
      draft.warnings.add(`unknown invoice status ${provider.providerStatus}`);
      return keptStatus(stored.status, stored.payment_failed_at !== null);
  }
}

export function firstOf(a: Date | null, b: Date | null): Date | null {
  return a && b ? earliest(a, b) : (a ?? b);
}
