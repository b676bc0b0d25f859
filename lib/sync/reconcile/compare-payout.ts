import { fromThousandths, toAmountText, toThousandths } from '../../money';

/** A balance transaction of a payout, and our record of the same money. Amounts are decimal text. */
export interface PayoutEntry {
  type: string;
  amount: string;
  net: string;
  currency: string;
  sourceId: string | null;
  /** Our payment, refund or dispute. Null if none is recorded. */
  record: {
    id: number;
    amount: string;
    currency: string;
    /** Sum of the payment's charges in other payouts. */
    elsewhere: string;
    /**
     * Whether the amount is the sum of an invoice's payments as Stripe reported it. Some of the charges may then be in
     * payouts that are not known here, even if the payment names a charge, because old events name only the last one.
     */
    isSum: boolean;
  } | null;
  /** Whether the charge is recorded as payments of several invoices, so that its money counts more than once. */
  isTwice: boolean;
  /** Whether the charge is a bank debit that failed after it had begun, so that Stripe took its money back. */
  hasFailed: boolean;
  /** Whether our payment was deleted or got another reference here. Such a payment does not count as missing. */
  isDeleted: boolean;
}

/** A payout with its entries, and whether a bank statement contains it. */
export interface ComparedPayout {
  amount: string;
  currency: string;
  status: string;
  failureCode: string | null;
  /** Entries of the payout. Null if Stripe does not list the entries, or if they have not been read yet. */
  entries: PayoutEntry[] | null;
  /**
   * Whether the statements of the bank account to which Stripe pays cover the arrival date and all later days on which
   * the money can still arrive, see `readBank`.
   */
  isCovered: boolean;
  /** Whether a bank statement has an entry for the payout, see `readBank`. */
  isInBank: boolean;
}

export interface PayoutDifference {
  kind:
    | 'failed'
    | 'sum_differs'
    | 'payment_unknown'
    | 'refund_unknown'
    | 'dispute_unknown'
    | 'amount_differs'
    | 'counted_twice'
    | 'not_in_bank';
  /** The rest of a sentence whose subject is the payout. */
  text: string;
}

/** Returns the differences between a payout and our records or the bank. */
export function comparePayout(payout: ComparedPayout): PayoutDifference[] {
  const { amount, currency, status, failureCode, entries } = payout;
  const differences: PayoutDifference[] = [];
  const add = (kind: PayoutDifference['kind'], text: string) => differences.push({ kind, text });
  if (status === 'failed') {
    add('failed', `failed at the bank${failureCode ? ` (${failureCode})` : ''}. Stripe keeps the money`);
  }
  if (entries) {
    const net = entries.reduce((sum, one) => sum + toThousandths(one.net), 0);
    if (net !== toThousandths(amount)) {
      add(
        'sum_differs',
        `is not the sum of its transactions, ${toAmountText(fromThousandths(net), currency)}`,
      );
    }
    // An invoice is not paid by a bank debit that fails, so neither of its two entries has a record.
    const recorded = entries.filter((one) => !one.hasFailed && one.type !== DEBIT_FAILURE);
    for (const [kind, noun, is] of UNKNOWN) {
      const missing = recorded.filter((one) => is(one) && one.record === null && !one.isDeleted);
      if (missing.length > 0)
        add(kind, `contains ${count(missing.length, noun)} not recorded here: ${named(missing)}`);
    }
    const wrong = [...wrongCharges(recorded), ...wrongRefunds(recorded)];
    if (wrong.length > 0) add('amount_differs', `contains other amounts than recorded here: ${named(wrong)}`);
    const twice = recorded.filter((one) => one.isTwice);
    if (twice.length > 0)
      add(
        'counted_twice',
        `contains ${count(twice.length, 'payment')} recorded for two invoices: ${named(twice)}`,
      );
  }
  // A failed payout either does not appear on a bank statement, or appears as a credit and a return.
  if (status === 'paid' && payout.isCovered && !payout.isInBank) {
    add('not_in_bank', 'is not in the bank statement of its days');
  }
  return differences;
}

/** Stripe's transaction types for a customer's payment. */
export const CHARGES = ['charge', 'payment'];
/** Stripe's transaction type for the money of a failed bank debit, which leaves the balance again. */
export const DEBIT_FAILURE = 'payment_failure_refund';
const REFUNDS = ['refund', 'payment_refund', 'refund_failure', DEBIT_FAILURE];

/** Returns whether an entry is a customer's payment. */
export const isCharge = ({ type }: { type: string }): boolean => CHARGES.includes(type);
/** Returns whether an entry pays a refund, or returns the money of a failed refund or bank debit. */
export const isRefund = ({ type }: { type: string }): boolean => REFUNDS.includes(type);
const isDispute = ({ type, sourceId }: PayoutEntry) =>
  type === 'adjustment' && /^(dp|du)_/.test(sourceId ?? '');

const UNKNOWN: [PayoutDifference['kind'], noun: string, is: (entry: PayoutEntry) => boolean][] = [
  ['payment_unknown', 'payment', isCharge],
  ['refund_unknown', 'refund', isRefund],
  ['dispute_unknown', 'dispute', isDispute],
];

/**
 * Returns the first charge of each payment whose charges do not add up to the payment's amount. If Stripe reported the
 * amount as a sum, the known charges may be less.
 */
function wrongCharges(entries: PayoutEntry[]): PayoutEntry[] {
  const groups = new Map<number, PayoutEntry[]>();
  for (const one of entries) {
    if (isCharge(one) && one.record) groups.set(one.record.id, [...(groups.get(one.record.id) ?? []), one]);
  }
  return [...groups.values()].flatMap((charges) => {
    const [first] = charges;
    // Stripe converts a payment in another currency before the payout, so its amount cannot be compared.
    if (!first?.record || first.record.currency !== first.currency) return [];
    const { amount, elsewhere, isSum } = first.record;
    const paid = charges.reduce((sum, one) => sum + toThousandths(one.amount), toThousandths(elsewhere));
    const left = toThousandths(amount) - paid;
    return (isSum ? left >= 0 : left === 0) ? [] : [first];
  });
}

function wrongRefunds(entries: PayoutEntry[]): PayoutEntry[] {
  const isWrong = ({ record, amount, currency }: PayoutEntry) =>
    record !== null &&
    record.currency === currency &&
    Math.abs(toThousandths(amount)) !== toThousandths(record.amount);
  return entries.filter((one) => isRefund(one) && isWrong(one));
}

const MAX_NAMED = 5;

function named(entries: PayoutEntry[]): string {
  const ids = entries
    .slice(0, MAX_NAMED)
    .map(({ sourceId, amount, currency }) =>
      [sourceId, toAmountText(amount, currency)].filter(Boolean).join(' of '),
    );
  return entries.length > MAX_NAMED ? `${ids.join(', ')} and more` : ids.join(', ');
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;
