import type { FieldChange } from '@/db/schema';
import { earliest, latest, toCalendarDate } from '@/lib/dates';
import { keptStatus, unpaidStatus } from '@/lib/overdue';
import { type ProviderInvoice, toProviderInvoice } from '@/lib/stripe/to-invoice';
import type { StoredInvoice, StoredLine } from '../../store/snapshot';
import type { ListedKind, ProviderCreditNote } from '../../stripe/fetch';
import { createdChange, differing, isSameState, toChanges } from './changes';
import { linkCustomer, reportUnowned } from './customer';
import type { Draft } from './draft';
import { type Decision, decideOrder, eventsOfSecond, recheckAt, type StateOrigin } from './order';
import { addMoneyIds } from './payment';
import { type Applied, findOrAdd } from './subscription/subscription';

/**
 * Applies an invoice's state to its row.
 *
 * @param failedAt time of a failed payment, which is stored even if the state is stale
 * @returns whether the state was applied, and the row; the row is null if the invoice has no customer at Stripe, or if
 *   a listed invoice had to be fetched and Stripe did not return it
 */
export function applyInvoice(
  draft: Draft,
  incoming: ProviderInvoice,
  source: StateOrigin,
  failedAt: Date | null = null,
): { applied: Applied; invoice: StoredInvoice | null } {
  const { customer } = incoming;
  if (!customer) {
    reportUnowned(draft, 'invoice', incoming.id);
    return { applied: 'unmatched', invoice: null };
  }
  const { stripeCustomerId } = customer;
  const { customerId } = linkCustomer(draft, customer);
  const stored = draft.row('invoice', incoming.id);
  if (source.origin === 'listed' && mayHaveFailed(incoming, stored)) {
    return applyFetched(draft, incoming, stripeCustomerId, stored?.provider_as_of ?? null);
  }
  const row = stored ?? newInvoice(draft, incoming, stripeCustomerId, customerId);
  const subscriptionId = subscriptionOf(draft, incoming, stripeCustomerId, customerId);
  const links = { ...(subscriptionId && { subscription_id: subscriptionId }) };
  const payment_failed_at = firstOf(row.payment_failed_at, failedAt);
  const failing = { ...row, payment_failed_at };
  const decision = order(draft, row, failing, incoming, stripeCustomerId, source);
  const taken = typeof decision === 'object';
  const state = taken
    ? { ...toInvoiceState(draft, failing, decision.take), ...links }
    : // Even if the state is stale or unchanged, store the subscription and the failed payment.
      { payment_failed_at, status: keptStatus(row.status, payment_failed_at !== null), ...links };
  const invoice = update(draft, row, stored === undefined, state, {
    ...(taken && {
      provider_as_of: decision.asOf,
      recheck_at: recheckAt(draft, row, source, decision.recheck),
      provider_gone_at: null,
      ...takeLines(draft, row, decision.take, source),
    }),
  });
  // The ids of a payment never change, so even a stale state names the right ones. Stripe's answer may name them if the
  // event does not, or the reverse.
  for (const told of taken ? [decision.take, incoming] : [incoming]) addMoneyIds(draft, told);
  if (taken) cancelRevised(draft, decision.take, invoice, { ...source, asOf: decision.asOf });
  // Stripe's answer about the original may have linked the Stripe customer to another customer, and so moved this row.
  const current = draft.row('invoice', incoming.id) ?? invoice;
  return { applied: taken ? 'applied' : decision, invoice: current };
}

/**
 * Cancels the original invoice that a revision replaces. Stripe voids the original when it finalizes the revision, but
 * no handled event reports that. Without this step, both invoices would be due until the next reconciliation. If Stripe
 * does not answer, the original is cancelled anyway, and the next reconciliation retrieves it. If the original is not
 * stored yet, its event may still arrive and report it as due, so Stripe's answer is stored first. A listed revision
 * needs no answer about an unstored original, because the reconciliation also checks the original once its event stores
 * it.
 */
function cancelRevised(
  draft: Draft,
  { revises }: ProviderInvoice,
  { stripe_customer_id }: StoredInvoice,
  { origin, asOf }: StateOrigin,
): void {
  if (revises === null) return;
  const row = draft.row('invoice', revises);
  const isOwed = row?.status === 'sent' || row?.status === 'overdue';
  if (row ? !isOwed || row.stripe_customer_id !== stripe_customer_id : origin === 'listed') return;
  const fetched = draft.ask('invoice', revises, stripe_customer_id ?? '');
  if (fetched.state === 'found') {
    const fetchedAsOf = latest(fetched.asOf, row?.provider_as_of ?? fetched.asOf);
    applyInvoice(draft, fetched.object, { origin: 'fetched', asOf: fetchedAsOf });
    return;
  }
  if (!row) return;
  const state = { status: 'cancelled', amount_due: '0', uncollectible: false } as const;
  const provider_as_of = latest(asOf, row.provider_as_of ?? asOf);
  update(draft, row, false, state, { provider_as_of, recheck_at: draft.now });
}

/**
 * Returns whether a payment may have failed that is not stored as failed yet. A list shows only an attempt, which can
 * also be a pending bank debit.
 */
function mayHaveFailed(provider: ProviderInvoice, row: StoredInvoice | undefined): boolean {
  return provider.status === 'open' && provider.attempted && !row?.payment_failed_at;
}

function applyFetched(
  draft: Draft,
  listed: ProviderInvoice,
  stripeCustomerId: string,
  storedAsOf: Date | null,
): ReturnType<typeof applyInvoice> {
  const fetched = draft.ask('invoice', listed.id, stripeCustomerId);
  if (fetched.state === 'found') {
    const asOf = storedAsOf ? latest(fetched.asOf, storedAsOf) : fetched.asOf;
    return applyInvoice(draft, fetched.object, { origin: 'fetched', asOf });
  }
  if (fetched.state === 'gone') markGone(draft, 'invoice', listed.id);
  else draft.leave(`whether ${listed.id} could be collected`, fetched);
  return { applied: 'unchanged', invoice: null };
}

/**
 * Returns our id of the invoice's subscription. For an unknown subscription, creates a row without a state, because
 * events may arrive in any order. Returns null if the invoice has no subscription, or if the subscription belongs to
 * another customer.
 */
function subscriptionOf(
  draft: Draft,
  { stripeSubscriptionId }: ProviderInvoice,
  stripeCustomerId: string,
  customerId: number,
): number | null {
  if (!stripeSubscriptionId) return null;
  const { row } = findOrAdd(draft, stripeSubscriptionId, customerId, stripeCustomerId);
  if (row.customer_id === customerId) return row.id;
  draft.warnings.add(`the invoice names a subscription of another customer: ${stripeSubscriptionId}`);
  return null;
}

function order(
  draft: Draft,
  row: StoredInvoice,
  failing: StoredInvoice,
  incoming: ProviderInvoice,
  stripeCustomerId: string,
  source: StateOrigin,
): Decision<ProviderInvoice> {
  return decideOrder(draft, {
    kind: 'invoice',
    incoming,
    stripeCustomerId,
    source,
    row,
    isStored: (state) =>
      (state.lines === null || state.lines.hash === row.lines_hash) &&
      isSameState(row, toInvoiceState(draft, failing, state)),
    decideFromInbox: () => furthestOfSecond(draft, incoming, source.asOf),
  });
}

/**
 * Stores the lines of a new state if they differ from the stored ones, or if the stored ones are incomplete. Stripe
 * embeds only ten lines. If Stripe does not return the others, these ten are stored until the next reconciliation. A
 * listed state fails instead (NotReportedError).
 */
function takeLines(
  draft: Draft,
  row: StoredInvoice,
  { id, lines: shown }: ProviderInvoice,
  { origin }: StateOrigin,
): Partial<StoredInvoice> {
  if (!shown) return {};
  const isSame = row.lines_hash === shown.hash;
  if (isSame && row.lines_complete) return {};
  const fetched = shown.isComplete ? null : draft.ask('lines', id, row.stripe_customer_id ?? '', row.version);
  if (fetched && fetched.state !== 'found') {
    if (origin === 'listed') draft.leave(`all lines of ${id}`, fetched);
    if (isSame) return {};
  }
  const lines = fetched?.state === 'found' ? fetched.object : shown.lines;
  const isErased = Boolean(draft.customers.get(row.customer_id)?.erased_at);
  draft.lines.set(
    row.id,
    lines.map(({ periodStart, periodEnd, ...line }): StoredLine => {
      const period = { period_start: periodStart, period_end: periodEnd };
      return { ...line, ...period, description: isErased ? null : line.description };
    }),
  );
  // Lines that fill in an invoice stored without lines are not logged as a change. Only later differences are.
  if (row.lines_hash !== null && !isSame) {
    const subject = { entity: 'invoice' as const, entity_id: row.id, stripe_id: id };
    draft.changes.push({
      ...subject,
      field: 'lines',
      before: null,
      after: String(lines.length),
      outcome: 'fixed',
    });
  }
  return { lines_hash: shown.hash, lines_complete: shown.isComplete || fetched?.state === 'found' };
}

/**
 * Adds a Stripe credit note to its invoice. Only voiding changes a stored credit note, so the order of reports does not
 * matter. Does nothing if the invoice is not stored.
 */
export function applyCreditNote(draft: Draft, note: ProviderCreditNote): void {
  const row = draft.row('invoice', note.invoice);
  if (!row) return;
  if (row.stripe_customer_id) {
    draft.link(row.stripe_customer_id);
    draft.concerned.add(row.stripe_customer_id);
  }
  const isErased = Boolean(draft.customers.get(row.customer_id)?.erased_at);
  draft.creditNotes.push({
    ...{ number: note.number, invoice_id: row.id, currency: note.currency },
    date: toCalendarDate(note.issuedAt, draft.timeZone),
    ...{ subtotal: note.subtotal, tax: note.tax, total: note.total },
    reason: isErased ? null : note.reason,
    stripe_credit_note_id: note.id,
    to_balance: note.toBalance,
    voided_at: note.voidedAt,
    stripe_lines:
      note.lines?.map(({ periodStart: _, periodEnd: __, ...line }) => ({
        ...line,
        description: isErased ? null : line.description,
      })) ?? null,
  });
}

function update(
  draft: Draft,
  row: StoredInvoice,
  isNew: boolean,
  state: Partial<StoredInvoice>,
  reported: Partial<StoredInvoice>,
): StoredInvoice {
  const values = { ...differing(row, state), ...reported };
  if (!isNew && Object.keys(values).length === 0) return row;
  const subject = { entity: 'invoice' as const, entity_id: row.id, stripe_id: row.stripe_invoice_id };
  const changes = isNew
    ? [createdChange(subject, state.number ?? row.stripe_invoice_id)]
    : toChanges(subject, row, state);
  // An amount off Stripe that becomes known is not logged as a change, because no event could have reported it.
  const isNews = ({ field }: FieldChange) => field !== 'amount_off_stripe' || row.amount_off_stripe !== null;
  draft.changes.push(...changes.filter(isNews));
  return draft.invoices.put({ ...row, ...values, stripe_synced_at: draft.now });
}

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

/** Returns the stored amount paid outside Stripe. Returns null if the invoice's paid amount has changed since. */
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

function firstOf(a: Date | null, b: Date | null): Date | null {
  return a && b ? earliest(a, b) : (a ?? b);
}

/** Rank of each status of an invoice. An unknown status has the rank of `open`. */
const RANK = { draft: 0, open: 1, uncollectible: 2, paid: 3, void: 4 } as const;

/**
 * Returns the state with the highest rank among the events of one second. Of equal ranks, the greatest event id wins.
 */
export function furthestOfSecond(draft: Draft, incoming: ProviderInvoice, second: Date): ProviderInvoice {
  const events = eventsOfSecond(draft, incoming.id, second).sort((a, b) => (a.id < b.id ? 1 : -1));
  const [furthest = incoming] = events
    .map(({ object }) => toProviderInvoice(object))
    .filter((invoice) => invoice !== null)
    .sort((a, b) => rankOf(b) - rankOf(a));
  return furthest;
}

const rankOf = ({ status }: ProviderInvoice) => RANK[status ?? 'open'];

function newInvoice(
  draft: Draft,
  { id, number, currency, issuedAt }: ProviderInvoice,
  stripe_customer_id: string,
  customer_id: number,
): StoredInvoice {
  return {
    ...draft.newRow(),
    number,
    customer_id,
    subscription_id: null,
    status: 'draft',
    invoice_date: toCalendarDate(issuedAt ?? draft.now, draft.timeZone),
    due_date: null,
    currency,
    subtotal: '0',
    tax: '0',
    total: '0',
    amount_paid: '0',
    amount_due: '0',
    paid_at: null,
    payment_failed_at: null,
    uncollectible: false,
    reminded_on: [],
    amount_off_stripe: null,
    balance_applied: null,
    amount_credited: '0',
    collected_by_payment_id: null,
    stripe_invoice_id: id,
    stripe_customer_id,
    stripe_synced_at: null,
    provider_as_of: null,
    provider_gone_at: null,
    recheck_at: null,
    lines_hash: null,
    lines_complete: false,
  };
}

/** Marks the row of an object that Stripe deleted, and logs the deletion once. A draft invoice is also cancelled. */
export function markGone<Kind extends ListedKind>(draft: Draft, kind: Kind, stripe_id: string): void {
  const row = draft.row(kind, stripe_id);
  if (row?.provider_gone_at !== null) return;
  const subject = { entity: kind, entity_id: row.id, stripe_id };
  const gone = { field: 'provider_gone_at', before: null, after: draft.now.toISOString() };
  draft.changes.push({ ...subject, ...gone, outcome: 'reported' });
  const isDraft = kind === 'invoice' && row.status === 'draft';
  const state = isDraft ? { status: 'cancelled', amount_due: '0' } : {};
  draft.changes.push(...toChanges(subject, row, state));
  const recheck = 'recheck_at' in row && { recheck_at: null };
  draft.table(kind).put({ ...row, ...state, ...recheck, provider_gone_at: draft.now });
}
