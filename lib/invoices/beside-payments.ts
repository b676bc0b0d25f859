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
  /** Collected beyond the total, since the customer's balance at Stripe was a debt. */
  earlierDebt: number;
  /** Paid or due beyond the total, as long as Stripe has not told the balance: an earlier debt, or an overpayment. */
  beyondTotal: number;
  /** Paid beyond the total and an earlier debt. */
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
  | 'balance_applied'
  | 'written_off'
  | 'stripe_invoice_id'
>;

/**
 * Explains an invoice whose payments do not add up to its total. Stripe takes the balance of a customer into account
 * before it collects the rest. If Stripe has not told the balance, it is what is neither paid, due nor credited.
 */
export function besidePayments(invoice: Amounts): BesidePayments {
  const { status, amount_off_stripe, balance_applied } = invoice;
  const total = thousandths(invoice.total);
  const paid = thousandths(invoice.amount_paid);
  const due = thousandths(invoice.amount_due);
  const isStripes = invoice.stripe_invoice_id !== null;
  const isFinal = isStripes && status !== 'draft' && status !== 'cancelled';
  const rest = isFinal ? total - paid - due : 0;
  const balance = isFinal && balance_applied !== null ? thousandths(balance_applied) : null;
  return {
    offStripe: isStripes ? amount_off_stripe : 0,
    fromBalance: positive(balance ?? (total > 0 ? rest - thousandths(invoice.amount_credited) : 0)),
    toBalance: positive(isFinal ? -total : 0),
    earlierDebt: positive(balance !== null && total >= 0 ? -balance : 0),
    beyondTotal: positive(balance === null && total >= 0 ? -rest : 0),
    overpaid: positive(isStripes ? (balance === null || total < 0 ? 0 : balance - rest) : paid - total),
    writtenOff: invoice.written_off,
  };
}

const thousandths = (amount: number) => toThousandths(String(amount));
const positive = (amount: number) => toJsonAmount(fromThousandths(Math.max(0, amount)));
