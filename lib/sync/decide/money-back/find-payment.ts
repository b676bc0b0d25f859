import { isIntent } from '../../../payments/stripe-payment';
import type { ProviderDispute, ProviderRefund } from '../../../stripe/provider';
import type { StoredPayment } from '../../store/rows';
import type { Draft } from '../draft';

type Source = Pick<ProviderRefund | ProviderDispute, 'id' | 'paymentIntentId' | 'chargeId'>;

interface Found {
  payment: StoredPayment | undefined;
  stripe_invoice_id: string | null;
}

/** By payment intent, by a reference that is the intent or charge, else by the invoice that Stripe names. */
export function findPayment(draft: Draft, source: Source): Found {
  const { paymentIntentId: intent, chargeId: charge } = source;
  const known = findStored(draft, [intent, charge]);
  if (known)
    return { payment: known, stripe_invoice_id: draft.invoiceOf(known).invoice?.stripe_invoice_id ?? null };
  if (!intent) return { payment: undefined, stripe_invoice_id: null };
  const invoice = askInvoice(draft, source.id, intent);
  return { payment: findStored(draft, [invoice]), stripe_invoice_id: invoice };
}

/** The invoice that Stripe names for a payment intent; null if it has none so far, or Stripe does not answer. */
export function askInvoice(draft: Draft, moneyBackId: string, intent: string): string | null {
  const asked = draft.ask('invoicePaid', intent, '');
  if (asked.state === 'found') return asked.object;
  draft.leave(`what ${moneyBackId} was paid for`, asked);
  return null;
}

export function findStored(draft: Draft, names: (string | null)[]): StoredPayment | undefined {
  const known = names.filter((name) => name !== null);
  const [byIntent] = known.flatMap((name) => (isIntent(name) ? draft.paymentsByIntent(name) : []));
  if (byIntent) return byIntent;
  const [byReference] = known.flatMap((name) => draft.payment(name) ?? []);
  return byReference ?? known.flatMap((name) => (name.startsWith('in_') ? recordedOf(draft, name) : []))[0];
}

/** What a program recorded of an invoice's money, where sync recorded none. */
function recordedOf(draft: Draft, stripeInvoiceId: string): StoredPayment[] {
  const invoice = draft.invoice(stripeInvoiceId);
  return invoice ? draft.recordedOf(invoice).filter(({ id }) => id === invoice.collected_by_payment_id) : [];
}
