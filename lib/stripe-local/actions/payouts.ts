import { isCollected, type Movement, movementsOf } from '../charges';
import type { Payout } from '../model';
import { DAY, epochNow, getFrom, newId, type World, WorldError } from '../world';

interface PayoutInput {
  currency?: string;
  /** Start of the period to pay out, in epoch seconds. `until` is its exclusive end. The default is all periods. */
  from?: number;
  until?: number;
  created?: number;
  /** Amount of a manual payout in minor units. If absent, the payout is automatic and contains the whole period. */
  amount?: number;
}

/**
 * Pays out the balance. The amount is negative if refunds and disputes exceed the charges. Emits no event, because our
 * webhook does not subscribe to events about payouts.
 */
export function payOut(world: World, input: PayoutInput = {}): Payout {
  const { currency = 'eur', created = epochNow(world) } = input;
  const movements = input.amount === undefined ? listMovements(world, { ...input, currency }) : [];
  if (movements.length === 0 && input.amount === undefined) throw new WorldError('Nothing can be paid out.');
  const amount = input.amount ?? movements.reduce((sum, { amount, fee }) => sum + amount - fee, 0);
  const id = newId(world, 'po_');
  for (const movement of movements) world.balanceTransactions.put({ ...movement, payout: id });
  const own = world.balanceTransactions.put({
    ...{ object: 'balance_transaction', id: newId(world, 'txn_'), created, type: 'payout', payout: id },
    ...{ amount: -amount, fee: 0, currency, description: 'STRIPE PAYOUT', source: id },
  });
  // Stripe reports the arrival date as an instant, at midnight in UTC.
  const arrivalDate = Math.floor(created / DAY + 2) * DAY;
  return world.payouts.put({
    ...{ object: 'payout', id, created, amount, currency, arrivalDate, status: 'paid', failureCode: null },
    ...{ automatic: input.amount === undefined, balanceTransaction: own.id },
  });
}

/**
 * Marks a payout as refused by the bank, which can be days after it was paid. The next automatic payout contains the
 * amount again.
 */
export function failPayout(world: World, id: string): Payout {
  const payout = getFrom(world, 'payout', id);
  return world.payouts.put({ ...payout, status: 'failed', failureCode: 'account_closed' });
}

/** Lists the balance transactions of a currency and a period that no payout contains yet, the oldest first. */
function listMovements(world: World, { currency, from = 0, until = Number.POSITIVE_INFINITY }: PayoutInput) {
  const refunds = [...world.refunds.values()].flatMap((refund): Movement[] => {
    const { created, amount, id: source } = refund;
    const common = {
      object: 'balance_transaction',
      created,
      fee: 0,
      currency: refund.currency,
      source,
    } as const;
    const id = refund.failureBalanceTransaction;
    return [
      { ...common, id: refund.balanceTransaction, type: 'refund', amount: -amount, description: 'REFUND' },
      ...(id
        ? [{ ...common, id, type: 'refund_failure' as const, amount, description: 'REFUND FAILURE' }]
        : []),
    ];
  });
  const failed = [...world.payouts.values()].filter(({ status }) => status === 'failed');
  const returned = failed.map(
    ({ id, created, amount, currency, balanceTransaction }): Movement => ({
      ...{
        object: 'balance_transaction',
        id: `${balanceTransaction}_failed`,
        created,
        type: 'payout_failure',
      },
      ...{ amount, fee: 0, currency, description: 'STRIPE PAYOUT FAILURE', source: id },
    }),
  );
  const disputed = [...world.disputes.values()].flatMap(movementsOf);
  return [...listCharged(world), ...listDebits(world), ...refunds, ...disputed, ...returned]
    .filter((one) => one.currency === currency && one.created >= from && one.created < until)
    .filter(({ id }) => !world.balanceTransactions.get(id))
    .sort((a, b) => a.created - b.created || (a.id < b.id ? -1 : 1));
}

/**
 * Lists the balance transactions of charges. Derives their ids from the charges' ids, because charges are not stored.
 */
function listCharged(world: World): Movement[] {
  return [...world.paymentIntents.values()].filter(isCollected).map((intent) => ({
    ...{ object: 'balance_transaction', id: `txn_${intent.latestCharge.slice(3)}`, type: 'charge' },
    ...{ created: intent.created, amount: intent.amountReceived, fee: feeOf(intent.amountReceived) },
    ...{ currency: intent.currency, description: null, source: intent.latestCharge },
  }));
}

/** Lists the two balance transactions of each failed bank debit. */
function listDebits(world: World): Movement[] {
  return [...world.paymentIntents.values()].flatMap(({ created, currency, failedDebits = [] }) =>
    failedDebits.flatMap(({ charge: source, amount, failedAt }): Movement[] => {
      const common = { object: 'balance_transaction', fee: 0, currency, description: null, source } as const;
      const id = `txn_${source.slice(3)}`;
      return [
        { ...common, id, type: 'payment', created, amount },
        { ...common, id: `${id}_failed`, type: 'payment_failure_refund', created: failedAt, amount: -amount },
      ];
    }),
  );
}

/** Returns Stripe's fee for a charge: 1.5 % plus 25 minor units. */
const feeOf = (amount: number) => Math.round(amount * 0.015) + 25;

/** Number of past weeks for which a new world has payouts. */
const WEEKS = 10;

/**
 * Creates payouts for a new world: one for each currency and each past week with movements. The payout in euros of the
 * third-to-last week fails.
 */
export function fillPayouts(world: World): void {
  const now = epochNow(world);
  const today = now - (now % DAY);
  const currencies = new Set([...world.paymentIntents.values()].map(({ currency }) => currency));
  for (const currency of [...currencies].sort()) {
    for (let week = WEEKS; week >= 1; week -= 1) {
      const until = today - (7 * week - 4) * DAY;
      const span = { currency, from: today - (7 * WEEKS + 3) * DAY, until };
      if (listMovements(world, span).length === 0) continue;
      const payout = payOut(world, { ...span, created: until });
      if (week === 3 && currency === 'eur') failPayout(world, payout.id);
    }
  }
}
