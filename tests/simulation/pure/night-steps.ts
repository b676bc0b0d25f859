import { addDays, toCalendarDate } from '@/lib/dates';
import { fromThousandths, toThousandths } from '@/lib/money';
import { mergeKeys, noKeys, type StoredInvoice, type StoredPayment } from '@/lib/store/snapshot';
import { toProviderEvent } from '@/lib/stripe/event';
import {
  fetchInvoicePaid,
  type ListedKind,
  type ListRequest,
  listObjects,
  listProviderCheckouts,
  listProviderCreditNotes,
} from '@/lib/stripe/fetch';
import {
  listProviderPayoutEntries,
  listProviderPayouts,
  type ProviderPayoutEntry,
} from '@/lib/stripe/payouts';
import { recheckLink } from '@/lib/sync/decide/customer';
import { attachPayment, type MoneyBackKind } from '@/lib/sync/decide/money-back';
import {
  applyObject,
  applyRetrieved,
  keysOfCheckout,
  keysOfProvided,
  type Provided,
} from '@/lib/sync/decide/object';
import { applyCheckout, settleMoved } from '@/lib/sync/decide/subscription/checkout';
import {
  comparePayout,
  DEBIT_FAILURE,
  isCharge,
  type PayoutEntry,
} from '@/lib/sync/reconcile/compare-payout';
import { disputesFrom, findInSync, refundsFrom } from '@/lib/sync/reconcile/lists';
import { ASKED_DAYS, decideMissing } from '@/lib/sync/reconcile/missing-payments';
import { inRun } from '@/lib/sync/reconcile/object';
import { NotReportedError } from '@/lib/sync/synchronize';
import { takeModelEvent } from './inbox';
import type { Model } from './model';
import type { Night } from './night';
import type { ModelRows } from './tables';

const DAY_MS = 86_400_000;
/** Days before the last complete run for which a run lists payouts, and days after arrival for which it compares each. */
const [REVISED_DAYS, COMPARED_DAYS] = [35, 60];
const byId = (a: { id: number }, b: { id: number }) => a.id - b.id;

/** The steps of a reconciliation on the model, keyed by their names in `STEPS`. */
export const NIGHT_STEPS: Record<string, (night: Night) => Promise<void>> = {
  'failed events': failedEvents,
  'live subscriptions': listed('subscription', null),
  'recent subscriptions': listed('subscription', 'all'),
  'unseen subscriptions': unseen('subscription'),
  'open invoices': listed('invoice', 'open'),
  'draft invoices': listed('invoice', 'draft'),
  'uncollectible invoices': listed('invoice', 'uncollectible'),
  'recent invoices': listed('invoice', null),
  'unseen invoices': unseen('invoice'),

  'Stripe customers to recheck': recheckCustomers,
  'subscriptions to recheck': recheck('subscription'),
  'invoices to recheck': recheck('invoice'),
  'earlier failures': earlierFailures,
  checkouts,
  'subscriptions of checkouts': recheck('subscription'),
  'missing payments': missingPayments,
  'ids of payments': paymentIds,
  'credit notes': creditNotes,
  refunds: listedRefunds,
  'unseen refunds': unseen('refund'),
  disputes: listedDisputes,
  'unseen disputes': unseen('dispute'),
  'payments of what came back': attachPayments,
  // The plan's time zone never changes, and the simulated Stripe account has it, so these two steps have nothing to do.
  'time zone of the account': async () => {},
  'time zone of the dates': async () => {},
  // No history has our own overdue invoices or counted lists.
  'overdue invoices': async () => {},
  'missed entries': missedEntries,
  'counts of lists': async () => {},
  'bodies of old events': ({ process }) => process.dropBodies(),
  payouts: listedPayouts,
  'transactions of payouts': payoutEntries,
  'differences of payouts': comparePayouts,
  // The model has no month states, and no history has anything that the other two steps would delete.
  'state of the last month': async () => {},
  'old documents': async () => {},
  'old tool calls': async () => {},
};

async function missedEntries({ model, process, deps: { now, timeZone } }: Night): Promise<void> {
  const { invoices, payments } = model.tables.rows;
  const at = () => ({ today: toCalendarDate(now(), timeZone), timeZone });
  await process.bookMissed(() => ({ invoices: [...invoices.keys()], payments: [], ...at() }));
  await process.bookMissed(() => ({ invoices: [], payments: [...payments.keys()], ...at() }));
}

function listed(kind: 'subscription' | 'invoice', status: string | null) {
  return async (night: Night) => {
    const isWindow = kind === 'subscription' ? status === 'all' : status === null;
    const createdFrom = isWindow ? night.work.windowFrom : null;
    await pages(night, kind, { status, createdFrom });
  };
}

async function pages(
  night: Night,
  kind: ListedKind,
  filter: Pick<ListRequest, 'status' | 'createdFrom'>,
): Promise<void> {
  let after: string | null = null;
  do after = await page(night, kind, { ...filter, after });
  while (after !== null);
}

async function page(night: Night, kind: ListedKind, request: ListRequest): Promise<string | null> {
  const { deps, process, lease } = night;
  if (!deps.stripe) return null;
  const { objects, refused, asOf, next } = await listObjects(deps.stripe, deps.now, kind, request);
  for (const { id, error } of refused) await night.each(kind, [id], () => Promise.reject(error));
  const unmet = await process.stating(() => objects.filter(({ id }) => !lease.row.seen.has(id)));
  const provided = unmet.map((value) => ({ kind, value }) as Provided);
  const done = provided.length > 0 ? await findInSync(deps, provided, asOf) : new Set();
  for (const object of provided) {
    if (done.has(object)) continue;
    await night.each(kind, [object.value.id], () => apply(night, object, asOf));
  }
  await process.stating(() => {
    for (const { id } of unmet) lease.row.seen.add(id);
  });
  return next;
}

async function apply(night: Night, object: Provided, asOf: Date): Promise<void> {
  await inRun(night.deps, night.work, {
    stripeCustomerId: 'customer' in object.value ? (object.value.customer?.stripeCustomerId ?? null) : null,
    keys: keysOfProvided(object),
    decide: (draft) => applyObject(draft, object, { origin: 'listed', asOf }),
  });
  await night.resolve(object.kind, (id) => id === object.value.id);
}

/** Retrieves an object and applies it, like `retrieveAndApply`. */
async function retrieve(night: Night, kind: ListedKind, id: string): Promise<void> {
  const reason = await inRun(night.deps, night.work, {
    stripeCustomerId: null,
    keys: mergeKeys(noKeys(), { [`${kind}s`]: [id] }),
    decide: (draft) => applyRetrieved(draft, kind, id),
  });
  if (reason === undefined) await night.resolve(kind, (one) => one === id);
  else await night.fail(kind, id);
}

/** Retrieves each open object that no list contained. */
function unseen(kind: ListedKind) {
  return async (night: Night) => {
    const { seen } = night.lease.row;
    const ids = await night.select((rows) =>
      KNOWN[kind](rows)
        .filter((row) => row.provider_gone_at === null && !CLOSED[kind].includes(row.status))
        .sort(byId)
        .flatMap(({ stripeId }) => (stripeId === null || seen.has(stripeId) ? [] : stripeId)),
    );
    await night.each(kind, ids, (id) => retrieve(night, kind, id));
  };
}

const KNOWN = {
  subscription: ({ subscriptions }: ModelRows) =>
    [...subscriptions.values()].map((row) => ({ ...row, stripeId: row.stripe_subscription_id })),
  invoice: ({ invoices }: ModelRows) =>
    [...invoices.values()].map((row) => ({ ...row, stripeId: row.stripe_invoice_id })),
  refund: ({ refunds }: ModelRows) =>
    [...refunds.values()].map((row) => ({ ...row, stripeId: row.stripe_refund_id })),
  dispute: ({ disputes }: ModelRows) =>
    [...disputes.values()].map((row) => ({ ...row, stripeId: row.stripe_dispute_id })),
} satisfies Record<ListedKind, (rows: ModelRows) => { id: number; stripeId: string | null }[]>;

const CLOSED: Record<ListedKind, string[]> = {
  subscription: ['cancelled'],
  invoice: ['paid', 'cancelled'],
  refund: ['succeeded', 'failed', 'cancelled'],
  dispute: ['won', 'lost', 'warning_closed', 'prevented'],
};

async function listedRefunds(night: Night): Promise<void> {
  await pages(night, 'refund', { status: null, createdFrom: refundsFrom(night.work) });
}

async function listedDisputes(night: Night): Promise<void> {
  await pages(night, 'dispute', { status: null, createdFrom: disputesFrom(night.work) });
}

/** Retrieves each invoice whose stored state may not include a listed credit note. The model stores no credit notes. */
async function creditNotes(night: Night): Promise<void> {
  const { deps, work } = night;
  if (!deps.stripe) return;
  let after: string | null = null;
  do {
    const filter = { status: null, createdFrom: work.windowFrom, after };
    const { notes, next } = await listProviderCreditNotes(deps.stripe, filter);
    const behind = await night.select((rows) =>
      notes.filter(({ invoice, changedAt }) => isBehind(rows, invoice, changedAt)),
    );
    const ids = [...new Set(behind.map(({ invoice }) => invoice))].sort();
    await night.each('invoice', ids, (id) => retrieve(night, 'invoice', id));
    after = next;
  } while (after !== null);
}

function isBehind({ invoices }: ModelRows, id: string, changedAt: Date): boolean {
  const row = [...invoices.values()].find(({ stripe_invoice_id }) => stripe_invoice_id === id);
  if (!row) return true;
  return row.provider_gone_at === null && (row.provider_as_of === null || row.provider_as_of <= changedAt);
}

async function attachPayments(night: Night): Promise<void> {
  for (const kind of ['refund', 'dispute'] as const) {
    const ids = await night.select((rows) => withPayment(rows, kind, night.deps));
    await night.each(kind, ids, async (id) => {
      await inRun(night.deps, night.work, {
        stripeCustomerId: null,
        keys: mergeKeys(noKeys(), { [`${kind}s`]: [id] }),
        decide: (draft) => attachPayment(draft, kind, id),
      });
    });
  }
}

/** Returns refunds or disputes that have no payment yet, but whose payment may exist by now, here or at Stripe. */
function withPayment(rows: ModelRows, kind: MoneyBackKind, { stripe, now }: Night['deps']): string[] {
  const since = now().getTime() - ASKED_DAYS * DAY_MS;
  const known = [...rows.payments.values()];
  const collectedBy = new Map(
    [...rows.invoices.values()].map((one) => [one.stripe_invoice_id, one.collected_by_payment_id]),
  );
  const all = kind === 'refund' ? KNOWN.refund(rows) : KNOWN.dispute(rows);
  return all
    .filter((row) => row.payment_id === null)
    .filter((row) => {
      const { stripe_payment_intent_id: intent, stripe_charge_id: charge, stripe_invoice_id: invoice } = row;
      const isNamed = known.some(
        (one) =>
          (intent !== null && one.stripe_payment_intent_id === intent) ||
          [intent, charge, invoice].includes(one.payment_reference) ||
          one.id === collectedBy.get(invoice),
      );
      const mayBelong = intent !== null && invoice === null && row.provider_gone_at === null;
      return isNamed || (stripe !== null && mayBelong && row.issued_at.getTime() >= since);
    })
    .sort(byId)
    .flatMap(({ stripeId }) => stripeId ?? []);
}

async function failedEvents(night: Night): Promise<void> {
  const { deps, process, model } = night;
  const { events } = model.tables.rows;
  const failed = await night.select(() =>
    [...events.values()].filter((one) => one.outcome === 'failed' && one.failure_reason === null),
  );
  const ids = failed.map(({ id }) => id).sort();
  const payloads = new Map(failed.map(({ id, payload }) => [id, payload]));
  await night.each('event', ids, async (id) => {
    const payload = payloads.get(id) ?? '';
    const event = toProviderEvent(JSON.parse(payload));
    if (event) await takeModelEvent(process, deps, { event, payload, again: true });
  });
  await night.resolve('event', (id) => events.get(id)?.outcome !== 'failed');
}

async function recheckCustomers(night: Night): Promise<void> {
  const { deps, model, work } = night;
  const isOpen = (id: string) => (model.tables.rows.links.get(id)?.recheck_at ?? null) !== null;
  const ids = await night.select(({ links }) => [...links.keys()].filter(isOpen).sort());
  await night.each('customer', ids, async (id) => {
    const failure = await inRun(deps, work, {
      stripeCustomerId: id,
      keys: mergeKeys(noKeys(), { stripeCustomers: [id] }),
      decide: (draft) => {
        const failure = recheckLink(draft, id);
        settleMoved(draft);
        return failure;
      },
    });
    if (failure) await night.fail('customer', id);
  });
  await night.resolve('customer', (id) => !isOpen(id));
}

function recheck(kind: 'subscription' | 'invoice') {
  return async (night: Night) => {
    const ids = await night.select((rows) =>
      KNOWN[kind](rows)
        .filter((row) => row.provider_gone_at === null)
        .filter((row) => row.recheck_at !== null || ('is_stub' in row ? row.is_stub : !row.lines_complete))
        .sort(byId)
        .flatMap(({ stripeId }) => stripeId ?? []),
    );
    await night.each(kind, ids, (id) => retrieve(night, kind, id));
  };
}

async function earlierFailures(night: Night): Promise<void> {
  const open = await night.select(() => night.model.failures.filter((one) => !one.resolved));
  for (const { object, stripeId } of open) {
    if (object === 'event' || object === 'customer' || object === 'payout') continue;
    await night.each(object, [stripeId], () => retrieve(night, object, stripeId));
  }
}

/** Looks for checkouts of sold subscriptions that no event reported. */
async function checkouts(night: Night): Promise<void> {
  const waiting = await night.select(({ subscriptions, links }) =>
    [...subscriptions.values()]
      .filter((row) => row.stripe_subscription_id === null && row.status !== 'cancelled')
      .sort(byId)
      .flatMap(({ id, customer_id }) =>
        [...links.values()]
          .filter((link) => link.customer_id === customer_id)
          .map(({ stripe_customer_id }) => ({ id, customer: stripe_customer_id }))
          .sort((a, b) => (a.customer < b.customer ? -1 : 1)),
      ),
  );
  for (const { id, customer } of waiting) {
    await night.each('customer', [customer], () => linkCheckout(night, id, customer));
  }
}

async function linkCheckout({ deps, work }: Night, id: number, customer: string): Promise<void> {
  const found = deps.stripe ? await listProviderCheckouts(deps.stripe, customer) : [];
  for (const checkout of found.filter(({ reference }) => reference === id)) {
    await inRun(deps, work, {
      stripeCustomerId: customer,
      keys: mergeKeys(noKeys(), keysOfCheckout(checkout)),
      decide: (draft) => {
        applyCheckout(draft, checkout);
        settleMoved(draft);
      },
    });
  }
}

async function missingPayments(night: Night): Promise<void> {
  const { deps, work } = night;
  const found = await night.select((rows) =>
    [...rows.invoices.values()].filter((row) => mayMiss(rows, row, deps.stripe !== null)).sort(byId),
  );
  for (const { stripe_invoice_id: id, amount_off_stripe, stripe_customer_id } of found) {
    if (id === null) continue;
    await night.each('invoice', [id], async () => {
      if (deps.stripe && amount_off_stripe === null) await retrieve(night, 'invoice', id);
      await inRun(deps, work, {
        stripeCustomerId: stripe_customer_id,
        keys: mergeKeys(noKeys(), { invoices: [id], payments: [id] }),
        decide: (draft) => decideMissing(draft, id),
      });
    });
  }
}

/** Retrieves each invoice whose payment has neither a payment intent nor a charge, like `addPaymentIds`. */
async function paymentIds(night: Night): Promise<void> {
  if (!night.deps.stripe) return;
  const ids = await night.select(({ payments, invoices }) => {
    const unnamed = [...payments.values()].filter(
      (one) => one.source === 'stripe' && !one.stripe_payment_intent_id && !one.stripe_charge_id,
    );
    const references = new Set(unnamed.map((one) => one.payment_reference));
    return [...invoices.values()]
      .filter((row) => row.provider_gone_at === null && references.has(row.stripe_invoice_id ?? ''))
      .sort(byId)
      .flatMap(({ stripe_invoice_id }) => stripe_invoice_id ?? []);
  });
  await night.each('invoice', ids, (id) => retrieve(night, 'invoice', id));
}

/** Returns whether an invoice's payment may be missing or wrong, like the query of `recordMissingPayments`. */
function mayMiss({ payments, tombstones }: ModelRows, row: StoredInvoice, hasKey: boolean): boolean {
  const { stripe_invoice_id: id, amount_off_stripe: off } = row;
  const paid = Number(row.amount_paid);
  if (id === null || paid <= 0 || paid <= Number(off ?? 0)) return false;
  if (off === null && (!hasKey || row.provider_gone_at !== null)) return false;
  const payment = [...payments.values()].find(
    (one) =>
      one.source === 'stripe' && (one.payment_reference === id || one.id === row.collected_by_payment_id),
  );
  if (!payment) {
    if (tombstones.has(id)) return false;
    const recorded = payments.get(row.collected_by_payment_id ?? 0);
    const isSame = recorded?.currency === row.currency && Number(recorded.amount) === paid - Number(off);
    return off === null || !isSame;
  }
  const { amount, provider_amount } = payment;
  return (
    amount === provider_amount &&
    (off === null || Number(amount).toFixed(3) !== (paid - Number(off)).toFixed(3))
  );
}

async function listedPayouts({ deps, model, process }: Night): Promise<void> {
  if (!deps.stripe) return;
  const last = model.runs.findLast((run) => run.listsCompleted && /^completed/.test(run.status));
  const from = last ? last.startedAt.getTime() - REVISED_DAYS * DAY_MS : deps.now().getTime() - 90 * DAY_MS;
  let after: string | null = null;
  do {
    const { payouts, next } = await listProviderPayouts(deps.stripe, { createdFrom: new Date(from), after });
    await process.stating(() => {
      for (const payout of payouts) {
        const known = model.payouts.get(payout.id) ?? { entries: null, differences: [] };
        model.payouts.set(payout.id, { ...known, ...payout });
      }
    });
    after = next;
  } while (after !== null);
}

/** Reads the entries of each payout that has none yet. */
async function payoutEntries(night: Night): Promise<void> {
  const { model, process } = night;
  const unread = await night.select(() =>
    [...model.payouts.values()].filter(({ entries, isListed }) => entries === null && isListed),
  );
  for (const payout of unread) {
    await night.each('payout', [payout.id], async (id) => {
      const entries = await readPayout(night, id);
      await process.stating(() => model.payouts.set(id, { ...payout, entries }));
    });
  }
  await night.resolve('payout', (id) => (model.payouts.get(id)?.entries ?? null) !== null);
}

async function readPayout(night: Night, id: string): Promise<Entry[]> {
  const { stripe, now } = night.deps;
  if (!stripe) return [];
  const entries: ProviderPayoutEntry[] = [];
  let after: string | null = null;
  do {
    const answer = await listProviderPayoutEntries(stripe, id, after);
    entries.push(...answer.entries);
    after = answer.next;
  } while (after !== null);
  const charges = entries.filter(isCharge);
  const known = await night.select(({ payments, invoices }) =>
    charges.flatMap((one) => {
      const payment = [...payments.values()].find((row) => row.source === 'stripe' && isNamed(row, one));
      return payment
        ? [[one.sourceId, invoices.get(payment.invoice_id)?.stripe_invoice_id ?? null] as const]
        : [];
    }),
  );
  const found = new Map(known);
  for (const { sourceId: charge, paymentIntentId: intent } of charges) {
    if (intent === null || found.has(charge)) continue;
    const answer = await fetchInvoicePaid(stripe, now, intent);
    if (answer.state === 'unavailable') throw new NotReportedError(`the invoice of ${intent}`, answer.reason);
    found.set(charge, answer.state === 'found' ? answer.object : null);
  }
  return entries.map((one) => ({ ...one, invoiceId: found.get(one.sourceId) ?? null }));
}

type Entry = ProviderPayoutEntry & { invoiceId: string | null };

/** Returns whether a payment contains the payment intent or charge of a payout entry. */
const isNamed = (row: StoredPayment, { paymentIntentId: intent, sourceId: charge }: ProviderPayoutEntry) =>
  (intent !== null && [row.stripe_payment_intent_id, row.payment_reference].includes(intent)) ||
  (charge !== null && [row.stripe_charge_id, row.payment_reference].includes(charge));

async function comparePayouts({ deps, model, process }: Night): Promise<void> {
  const since = addDays(toCalendarDate(deps.now(), deps.timeZone), -COMPARED_DAYS);
  await process.stating(() => {
    for (const [id, payout] of model.payouts) {
      if (payout.arrivalDate < since && payout.differences.length === 0) continue;
      const entries = payout.entries?.map((one) => toPayoutEntry(model, id, one)) ?? null;
      const found = comparePayout({ ...payout, entries, isCovered: false, isInBank: false });
      model.payouts.set(id, { ...payout, differences: found.map(({ kind }) => kind) });
    }
  });
}

/** Finds the payment, refund or dispute of an entry, like the query of `readEntries`. */
function toPayoutEntry({ tables, payouts }: Model, payout: string, entry: Entry): PayoutEntry {
  const { payments, refunds, disputes, invoices, tombstones } = tables.rows;
  const { paymentIntentId: intent, sourceId, invoiceId } = entry;
  const ids = [invoiceId, intent, sourceId].filter((id) => id !== null);
  const back = [
    ...[...refunds.values()].filter((row) => sourceId !== null && row.stripe_refund_id === sourceId),
    ...[...disputes.values()].filter((row) => sourceId !== null && row.stripe_dispute_id === sourceId),
  ];
  const invoice = [...invoices.values()].find((row) => (row.stripe_invoice_id ?? '') === invoiceId);
  const paid = [...payments.values()]
    .filter(
      (row) =>
        isNamed(row, entry) ||
        row.payment_reference === invoiceId ||
        row.id === invoice?.collected_by_payment_id,
    )
    .sort(byId);
  const record = isCharge(entry) ? paid[0] : back[0];
  const failures = [...payouts.values()]
    .flatMap(({ entries }) => entries ?? [])
    .filter(({ type }) => type === DEBIT_FAILURE);
  const hasFailed = (one: Entry) =>
    isCharge(one) && failures.some(({ sourceId }) => sourceId === one.sourceId);
  const elsewhere = [...payouts.values()]
    .filter(({ id }) => id !== payout)
    .flatMap(({ entries }) => entries ?? [])
    .filter((one) => isCharge(one) && paid[0] !== undefined && isOfPayment(one, paid[0]) && !hasFailed(one))
    .reduce((sum, { amount }) => sum + toThousandths(amount), 0);
  const [first] = paid;
  const isSum =
    isCharge(entry) &&
    first?.source === 'stripe' &&
    first.amount === first.provider_amount &&
    (first.payment_reference === invoices.get(first.invoice_id)?.stripe_invoice_id ||
      first.id === invoice?.collected_by_payment_id);
  return {
    ...entry,
    record: record ? { ...record, elsewhere: fromThousandths(isCharge(entry) ? elsewhere : 0), isSum } : null,
    isTwice: isCharge(entry) && new Set(paid.filter(isPaid).map((row) => row.invoice_id)).size > 1,
    hasFailed: hasFailed(entry),
    isDeleted: ids.some((id) => tombstones.has(id)),
  };
}

const isPaid = ({ status }: StoredPayment) => status === 'completed' || status === 'refunded';

const isOfPayment = ({ invoiceId, paymentIntentId }: Entry, row: StoredPayment) =>
  (invoiceId !== null && invoiceId === row.payment_reference) ||
  (paymentIntentId !== null && paymentIntentId === row.stripe_payment_intent_id);
