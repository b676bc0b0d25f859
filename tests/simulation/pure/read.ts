import { isSure } from '@/lib/customers/sure-link';
import { leftOf } from '@/lib/invoices/settle';
import { toThousandths } from '@/lib/money';
import { isOffStripe, namesStripeMoney } from '@/lib/payments/stripe-payment';
import type {
  BillingElsewhere,
  Keys,
  Paid,
  Snapshot,
  StoredEvent,
  StoredInvoice,
  StoredPayment,
} from '@/lib/store/snapshot';
import { isClosedByChange, type ModelEvent, type ModelTables } from './tables';

/** Reads from the model the rows that `read` reads from the database. */
export function readModel({ rows }: ModelTables, keys: Keys): Snapshot {
  const items = pick(rows.items, keys.items, (row) => row.stripe_subscription_item_id);
  const of = new Set(items.map((row) => row.subscription_id));
  const subscriptions = where(
    rows.subscriptions,
    (row) =>
      has(keys.subscriptions, row.stripe_subscription_id) ||
      has(keys.subscriptionIds, row.id) ||
      has(keys.whole, row.stripe_customer_id) ||
      of.has(row.id),
  );
  const own = where(rows.items, (row) => subscriptions.has(row.subscription_id));
  const billed = new Set([...own.values()].map((row) => row.customer_service_id));
  const services = where(
    rows.services,
    (row) =>
      billed.has(row.id) || has(keys.serviceIds, row.id) || has(keys.serviceNumbers, row.service_number),
  );
  const money = readMoney(rows, keys);
  const { invoices } = money;
  const named = new Set<string | null>(keys.stripeCustomers);
  for (const row of [...subscriptions.values(), ...invoices.values()]) named.add(row.stripe_customer_id);
  const links = where(
    rows.links,
    (row) => named.has(row.stripe_customer_id) || has(keys.linked, row.customer_id),
  );
  const linked = new Set([...links.values()].map((row) => row.customer_id));
  const merged = new Map(
    pick(rows.merged, keys.numbers, numberOf).map((row) => [numberOf(row), row.customer_id]),
  );
  const meant = [...merged.values()];
  return {
    keys,
    rows: {
      links: sorted(links),
      customers: sorted(
        where(
          rows.customers,
          (row) =>
            linked.has(row.id) ||
            has(keys.linked, row.id) ||
            has(keys.numbers, numberOf(row)) ||
            has(meant, row.id) ||
            has(keys.emails, row.email?.toLowerCase() ?? null),
        ),
      ),
      services: sorted(services),
      subscriptions: sorted(subscriptions),
      items: sorted(own),
      invoices: sorted(invoices),
      // No step of the simulation writes transfers.
      transfers: new Map(),
      payments: sorted(money.payments),
      refunds: sorted(money.refunds),
      disputes: sorted(money.disputes),
    },
    billing: [...services.keys()]
      .flatMap((id) => billingElsewhere(rows, id, subscriptions))
      .sort(
        (a, b) =>
          a.subscription_id - b.subscription_id ||
          a.until.getTime() - b.until.getTime() ||
          a.customer_service_id - b.customer_service_id,
      ),
    merged,
    withEmail: new Map(
      keys.emails
        .map((email) => [email, withEmail(rows, email)] as const)
        .filter(([, ids]) => ids.length > 0),
    ),
    tombstones: new Set(keys.payments.filter((reference) => rows.tombstones.has(reference))),
    paid: money.paid,
    mergedInto: new Map(
      [...rows.merged.values()]
        .filter(({ id }) => has(keys.mergedIds, id))
        .map((row) => [row.id, row.customer_id]),
    ),
    told: new Set(
      [...rows.tasks.values()]
        .filter((task) => !isClosedByChange(task))
        .map(({ kind, subject }) => `${kind} ${subject}`)
        .filter((key) => keys.tasks.includes(key)),
    ),
    events: readEvents(rows.events, keys),
  };
}

function withEmail({ customers }: ModelTables['rows'], email: string): number[] {
  const found = [...customers.values()].filter((row) => row.email?.toLowerCase() === email);
  return found.map(({ id }) => id).sort((a, b) => a - b);
}

/** Reads invoices and payments with their refunds and disputes. */
function readMoney(rows: ModelTables['rows'], keys: Keys) {
  const whole = new Set<number | null>(keys.paymentIds);
  for (const row of pick(rows.refunds, keys.refunds, (one) => one.stripe_refund_id))
    whole.add(row.payment_id);
  for (const row of pick(rows.disputes, keys.disputes, (one) => one.stripe_dispute_id))
    whole.add(row.payment_id);
  for (const row of pick(rows.payments, keys.intents, (one) => one.stripe_payment_intent_id))
    whole.add(row.id);
  for (const row of pick(rows.payments, keys.recorded, (one) => one.payment_reference)) whole.add(row.id);
  const paid = new Set([
    ...[...whole].map((id) => rows.payments.get(id ?? 0)?.invoice_id),
    ...keys.invoiceIds,
  ]);
  const reported = new Set(
    keys.invoiceIds.map((id) => rows.invoices.get(id)?.stripe_invoice_id ?? null).filter((id) => id !== null),
  );
  const isReported = (row: StoredPayment) =>
    keys.money.length > 0 &&
    (has(keys.money, row.stripe_payment_intent_id) ||
      has(keys.money, row.stripe_charge_id) ||
      (row.source === 'stripe' && has(keys.invoiceIds, row.invoice_id)) ||
      reported.has(row.payment_reference));
  const named = new Set(
    pick(rows.invoices, keys.payments, (one) => one.stripe_invoice_id).map(({ id }) => id),
  );
  const isRecorded = (row: { invoice_id: number; payment_reference: string }) =>
    named.has(row.invoice_id) && namesStripeMoney(row.payment_reference);
  return {
    invoices: where(rows.invoices, (row) => has(keys.invoices, row.stripe_invoice_id) || paid.has(row.id)),
    payments: where(
      rows.payments,
      (row) =>
        has(keys.payments, row.payment_reference) || whole.has(row.id) || isRecorded(row) || isReported(row),
    ),
    paid: sumPaid(
      where(rows.payments, (row) => paid.has(row.invoice_id)),
      rows.invoices,
    ),
    refunds: where(
      rows.refunds,
      (row) =>
        has(keys.refunds, row.stripe_refund_id) || (row.payment_id !== null && whole.has(row.payment_id)),
    ),
    disputes: where(
      rows.disputes,
      (row) =>
        has(keys.disputes, row.stripe_dispute_id) || (row.payment_id !== null && whole.has(row.payment_id)),
    ),
  };
}

function sumPaid(
  payments: Map<number, StoredPayment>,
  invoices: Map<number, StoredInvoice>,
): Map<number, Paid> {
  const sums = new Map<number, Paid>();
  for (const row of payments.values()) {
    const invoice = invoices.get(row.invoice_id);
    if (!invoice) continue;
    const { all, offStripe, back } = sums.get(row.invoice_id) ?? {
      ...{ all: 0, offStripe: 0 },
      back: givenBack(payments, invoice),
    };
    const left = leftOf(row);
    const isBeside = isOffStripe(row) && row.id !== invoice.collected_by_payment_id;
    sums.set(row.invoice_id, { all: all + left, offStripe: offStripe + (isBeside ? left : 0), back });
  }
  return sums;
}

/** Returns what Stripe gave back of an invoice's money without a credit note, like the SQL function `given_back`. */
export function givenBack(payments: Map<number, StoredPayment>, invoice: StoredInvoice): number {
  if (invoice.stripe_invoice_id === null) return 0;
  const returned = [...payments.values()]
    .filter(({ invoice_id }) => invoice_id === invoice.id)
    .filter(({ id, source }) => source === 'stripe' || id === invoice.collected_by_payment_id)
    .filter(({ status }) => status === 'completed' || status === 'refunded')
    .reduce((sum, { refunded_amount }) => sum + toThousandths(refunded_amount), 0);
  return Math.max(0, returned - toThousandths(invoice.amount_credited));
}

const numberOf = (row: { customer_number: string }) => row.customer_number.toLowerCase();
const has = <T>(keys: T[], key: T | null) => key !== null && keys.length > 0 && keys.includes(key);

function where<Key, Row>(table: Map<Key, Row>, isIt: (row: Row) => boolean): Map<Key, Row> {
  const found = new Map<Key, Row>();
  for (const [key, row] of table) if (isIt(row)) found.set(key, row);
  return found;
}

function pick<Row>(table: Map<unknown, Row>, keys: string[], keyOf: (row: Row) => string | null): Row[] {
  return keys.length === 0 ? [] : [...table.values()].filter((row) => has(keys, keyOf(row)));
}

function sorted<Key extends string | number, Row>(rows: Map<Key, Row>): Map<Key, Row> {
  if (rows.size < 2) return rows;
  return new Map([...rows].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function billingElsewhere(
  { items, subscriptions, links }: ModelTables['rows'],
  serviceId: number,
  known: Map<number, unknown>,
): BillingElsewhere[] {
  return [...items.values()].flatMap((item) => {
    const { customer_service_id, subscription_id, current_period_end: until } = item;
    if (customer_service_id !== serviceId || until === null || known.has(subscription_id)) return [];
    const subscription = subscriptions.get(subscription_id);
    const link = links.get(subscription?.stripe_customer_id ?? '');
    if (!subscription || subscription.status === 'cancelled') return [];
    if (link && !isSure({ linkedBy: link.linked_by })) return [];
    return [{ customer_service_id, subscription_id, until, endsAt: subscription.cancel_at }];
  });
}

function readEvents(events: Map<string, ModelEvent>, keys: Keys): Map<string, StoredEvent> {
  const found = new Map<string, StoredEvent>();
  for (const id of keys.events) {
    const event = events.get(id);
    if (event) found.set(id, { ...outcomeOf(event), payload: '', checkout: null, isStorable: true });
  }
  const seconds = keys.seconds.map((key) => key.split(' '));
  const times = seconds.map(([time = '']) => Date.parse(time));
  const objects = seconds.map(([, object = '']) => object);
  if (objects.length + keys.reported.length + keys.checkouts.length === 0) return found;
  for (const event of events.values()) {
    const isCheckout =
      has(keys.checkouts, event.stripe_customer_id) && event.type === 'checkout.session.completed';
    const isWanted =
      isCheckout ||
      (has(objects, event.object_id) && times.includes(event.stripe_created.getTime())) ||
      (has(keys.reported, event.object_id) && isReported(event));
    if (!isWanted) continue;
    const { payload, failure_reason, checkout: kept, stripe_created } = event;
    found.set(event.id, {
      ...outcomeOf(event),
      payload,
      checkout:
        isCheckout && kept
          ? {
              ...kept,
              completed_at: stripe_created.toISOString(),
              stripe_customer_id: String(event.stripe_customer_id),
            }
          : null,
      isStorable: failure_reason === null,
    });
  }
  return found;
}

const outcomeOf = ({ id, outcome, attempts }: ModelEvent) => ({ id, outcome, attempts });

const isReported = ({ type, outcome }: ModelEvent) =>
  type.startsWith('customer.subscription.') && (outcome === 'processed' || outcome === 'stale');
