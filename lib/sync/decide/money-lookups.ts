import { namesStripeMoney } from '../../payments/stripe-payment';
import type { StoredDispute, StoredInvoice, StoredPayment, StoredRefund } from '../store/rows';
import { KeyedTables } from './keyed-tables';

export class MoneyLookups extends KeyedTables {
  invoice(stripeId: string): StoredInvoice | undefined {
    const found = this.invoices.all().find((row) => row.stripe_invoice_id === stripeId);
    if (!found) this.require({ invoices: [stripeId] });
    return found;
  }

  payment(reference: string): StoredPayment | undefined {
    const found = this.payments.all().find((row) => row.payment_reference === reference);
    if (!found) this.require({ payments: [reference] });
    return found;
  }

  /** What programs and staff recorded of an invoice under an id that Stripe has for money. */
  recordedOf({ id, stripe_invoice_id }: StoredInvoice): StoredPayment[] {
    this.require({ payments: [stripe_invoice_id ?? ''] });
    return this.payments
      .all()
      .filter(
        (row) => row.invoice_id === id && row.source !== 'stripe' && namesStripeMoney(row.payment_reference),
      );
  }

  /** The payment of a refund or a dispute, which is read along with it. */
  paymentOf({ payment_id }: StoredRefund | StoredDispute): StoredPayment | undefined {
    return payment_id === null ? undefined : this.payments.get(payment_id);
  }

  isBuried(reference: string): boolean {
    this.require({ payments: [reference] });
    return this.snapshot.tombstones.has(reference);
  }

  refund(stripeId: string): StoredRefund | undefined {
    const found = this.refunds.all().find((row) => row.stripe_refund_id === stripeId);
    if (!found) this.require({ refunds: [stripeId] });
    return found;
  }

  dispute(stripeId: string): StoredDispute | undefined {
    const found = this.disputes.all().find((row) => row.stripe_dispute_id === stripeId);
    if (!found) this.require({ disputes: [stripeId] });
    return found;
  }

  paymentsByIntent(id: string): StoredPayment[] {
    this.require({ intents: [id] });
    return this.payments.all().filter((row) => row.stripe_payment_intent_id === id);
  }

  moneyBackOf(payment: StoredPayment): { refunds: StoredRefund[]; disputes: StoredDispute[] } {
    const { id } = payment;
    this.requireWhole(payment);
    return {
      refunds: this.refunds.all().filter((row) => row.payment_id === id),
      disputes: this.disputes.all().filter((row) => row.payment_id === id),
    };
  }

  invoiceOf(payment: StoredPayment): { invoice: StoredInvoice | undefined; payments: StoredPayment[] } {
    const { invoice_id } = payment;
    this.requireWhole(payment);
    return {
      invoice: this.invoices.get(invoice_id),
      payments: this.payments.all().filter((row) => row.invoice_id === invoice_id),
    };
  }

  ownerOf(payment: StoredPayment | undefined): string | null {
    return (payment && this.invoiceOf(payment).invoice?.stripe_customer_id) ?? null;
  }

  /** A snapshot read by a refund, a dispute or a payment intent contains everything about its payment. */
  private requireWhole({ id, stripe_payment_intent_id: intent }: StoredPayment): void {
    const { keys, rows } = this.snapshot;
    const isIts = (one: { payment_id: number | null }) => one.payment_id === id;
    const isKnown =
      id < 0 ||
      keys.intents.some((key) => key === intent) ||
      [...rows.refunds.values()].some(
        (one) => isIts(one) && keys.refunds.includes(one.stripe_refund_id ?? ''),
      ) ||
      [...rows.disputes.values()].some((one) => isIts(one) && keys.disputes.includes(one.stripe_dispute_id));
    if (!isKnown) this.require({ paymentIds: [id] });
  }
}
