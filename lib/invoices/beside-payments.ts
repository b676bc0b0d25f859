import { fromThousandths, toJsonAmount, toThousandths } from '../money';
import type { InvoiceDetails } from './get-invoice';
import type { WithMoneyBack } from './money-back';

/** The parts of an invoice that payments do not show, in whole units of its currency; 0 if it has no such part. */
export interface BesidePayments {
  /** Paid in cash or by transfer, and only noted at Stripe. Null if Stripe has not told yet. */
  offStripe: number | null;
  /** Settled with the customer's balance at Stripe: credit that was used, or a total too small to be charged. */
  fromBalance: number;
  /** Added to the customer's balance at Stripe, because the total is negative. */
  toBalance: number;
  /** Paid or due beyond the total of Stripe's invoice: a debt on the customer's balance, or an overpayment. */
  beyondTotal: number;
  /** Paid beyond the total, on invoices of our own. */
  overpaid: number;
  /** Still due, although Stripe has given up collecting it. */
  writtenOff: number;
}

type Amounts = Pick<
  WithMoneyBack<InvoiceDetails>,
  | 'status'
  | 'total'
  | 'amount_paid'
  | 'amount_due'
  | 'amount_credited'
  | 'amount_off_stripe'
  | 'stripe_invoice_id'
  | 'uncollectible'
>;

/**
 * Explains an invoice whose payments do not add up to its total. Stripe takes the balance of a customer into account
 * before it collects the rest. So the balance is what is neither paid, due nor credited.
 */
export function besidePayments(invoice: Amounts): BesidePayments {
  const { status, uncollectible, amount_off_stripe } = invoice;
  const total = thousandths(invoice.total);
  const paid = thousandths(invoice.amount_paid);
  const due = thousandths(invoice.amount_due);
  const isStripes = invoice.stripe_invoice_id !== null;
  const isFinal = isStripes && status !== 'draft' && status !== 'cancelled';
  const rest = isFinal ? total - paid - due : 0;
  return {
    offStripe: isStripes ? amount_off_stripe : 0,
    fromBalance: positive(total > 0 ? rest - thousandths(invoice.amount_credited) : 0),
    toBalance: positive(isFinal ? -total : 0),
    beyondTotal: positive(total >= 0 ? -rest : 0),
    overpaid: positive(isStripes ? 0 : paid - total),
    writtenOff: positive(uncollectible && status === 'overdue' ? due : 0),
  };
}

const thousandths = (amount: number) => toThousandths(String(amount));
const positive = (amount: number) => toJsonAmount(fromThousandths(Math.max(0, amount)));
