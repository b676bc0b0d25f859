import { toCalendarDate } from '@/lib/dates';
import { AppError } from '@/lib/errors';
import { settled } from '@/lib/invoices/settled';
import { cameBack } from '@/lib/payments/came-back';
import { checkPayment, referenceTaken } from '@/lib/payments/check-payment';
import { relinkItem } from '@/lib/sync/staff/link-item';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import type { StoredPayment } from '@/lib/sync/store/rows';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { OF_MERGED, OWN_INVOICE } from '../setup';
import type { Hands, Making, NewPayment } from '../stage';
import type { Model, ModelProcess } from './model';
import type { ModelTables } from './tables';

const ACTOR = { type: 'cli', id: 'simulation', name: 'simulation' } as const;
const byId = <T extends { id: number }>(rows: Iterable<T>) => [...rows].sort((a, b) => a.id - b.id);

/** The functions that pages and programs call, over the model. */
export function modelHands(model: Model, process: ModelProcess, deps: SyncDeps): Hands {
  const { tables } = model;
  const { rows } = tables;
  const ownerOf = (subscriptionId: number) => rows.subscriptions.get(subscriptionId);
  const write = <T>(work: () => T) => process.stating(() => tables.atOnce(work));
  return {
    ...modelMaking(model),
    now: model.now,
    payments: async () => byId(rows.payments.values()),
    invoices: async () => byId(rows.invoices.values()),
    links: async () =>
      [...rows.links.values()].sort((a, b) => (a.stripe_customer_id < b.stripe_customer_id ? -1 : 1)),
    items: async () =>
      byId(rows.items.values()).flatMap((item) => {
        const owner = ownerOf(item.subscription_id)?.customer_id;
        return item.stripe_subscription_item_id === null || owner === undefined ? [] : { ...item, owner };
      }),
    itemsOf: async (stripeCustomerId) =>
      byId(rows.items.values())
        .filter((item) => ownerOf(item.subscription_id)?.stripe_customer_id === stripeCustomerId)
        .map((item) => item.stripe_subscription_item_id),
    isLinkedByStaff: async (id) => rows.items.get(id)?.linked_by_staff === true,
    deletePayment: (id) =>
      write(() => {
        const found = existing(rows.payments.get(id), 'payment');
        const { payment_reference: reference } = found;
        if (found.source === 'stripe') tables.put('tombstones', reference, { reference });
        forgetMoneyBack(tables, id);
        tables.delete('payments', id);
        settleModelInvoice(model, found.invoice_id);
      }),
    updatePayment: (id, { amount: wanted, status }) =>
      write(() => {
        const before = existing(rows.payments.get(id), 'payment');
        const amount = wanted ?? Number(before.amount);
        checkPayment({ ...before, amount }, rows.invoices.get(before.invoice_id), false);
        if (Number(before.amount) === amount && before.status === status) return;
        const after = { ...before, amount: amount.toFixed(3), status, version: before.version + 1 };
        const refunded_amount = agreeModelRefunds(tables, before, after, model.now());
        tables.put('payments', id, { ...after, refunded_amount });
        settleModelInvoice(model, before.invoice_id);
      }),
    recordPayment: (payment) => write(() => insertPayment(model, payment)),
    linkStripeCustomer: (id, link) => linkStripeCustomer({ ...deps, stripe: null }, ACTOR, id, link),
    linkItem: async (id, serviceNumber) => {
      const found = ownerOf(rows.items.get(id)?.subscription_id ?? 0);
      await relinkItem(deps, ACTOR, existing(found, 'item'), id, serviceNumber);
    },
    dateService: (id, dates) =>
      write(() => {
        const service = existing(rows.services.get(id), 'service');
        tables.put('services', id, { ...service, ...dates, version: service.version + 1 });
      }),
  };
}

function existing<T>(found: T | undefined, what: string): T {
  if (!found) throw new AppError('not_found', `There is no such ${what}.`);
  return found;
}

function insertPayment(model: Model, payment: NewPayment): StoredPayment {
  const { tables, now } = model;
  const { rows } = tables;
  const isTaken = [...rows.payments.values()].some(
    ({ payment_reference }) => payment_reference === payment.payment_reference,
  );
  if (isTaken) throw referenceTaken();
  const { currency } = checkPayment(payment, rows.invoices.get(payment.invoice_id), true);
  const made: StoredPayment = {
    ...payment,
    id: tables.nextId('payments'),
    amount: payment.amount.toFixed(3),
    currency,
    refunded_amount: '0.000',
    status: 'completed',
    source: 'api',
    provider_amount: null,
    provider_payment_date: null,
    stripe_payment_intent_id: null,
    version: 0,
    created_at: now(),
    updated_at: now(),
  };
  tables.put('payments', made.id, made);
  settleModelInvoice(model, made.invoice_id);
  return made;
}

const numbered = (letter: string, id: number) => letter + String(id).padStart(5, '0');

/** Creates rows like the factories of the tests. */
function modelMaking({ tables, now }: Model): Making {
  const at = { created_at: now(), updated_at: now(), version: 0 };
  return {
    async makeCustomer(email) {
      const id = tables.nextId('customers');
      const row = { id, customer_number: numbered('K', id), email, version: 0 };
      const name = { last_name: `Tester${id}`, phone: null, erased_at: null };
      const address = { street: null, postal_code: null, city: null, country: null };
      tables.put('customers', id, { ...row, ...name, ...address });
      return row;
    },
    async makeMerged(customer_id) {
      const [id, customer_number] = [OF_MERGED + customer_id, `M${customer_id}`];
      tables.put('merged', id, { id, customer_number, customer_id });
      return customer_number;
    },
    async makeService({ price, ...given }) {
      const id = tables.nextId('services');
      const row = { ...given, id, service_number: numbered('S', id), price: Number(price).toFixed(3) };
      const dates = { synced_billing_date: null, synced_ends_on: null };
      tables.put('services', id, { ...row, ...dates, status: 'active', version: 0 });
      return row;
    },
    async makeSold(customer_id) {
      const id = tables.nextId('subscriptions');
      tables.put('subscriptions', id, {
        id,
        customer_id,
        status: 'incomplete',
        next_billing_date: null,
        cancel_at_period_end: false,
        cancel_at: null,
        ended_at: null,
        pause_behavior: null,
        pause_resumes_at: null,
        checkout_completed_at: null,
        stripe_subscription_id: null,
        stripe_customer_id: null,
        stripe_synced_at: null,
        provider_as_of: null,
        recheck_at: null,
        provider_gone_at: null,
        checkout_reference: null,
        reference_declined: false,
        is_stub: false,
        ...at,
      });
      return { id };
    },
    async makeSoldItem(item) {
      const id = tables.nextId('items');
      const named = { named_service_id: null, named_service_number: null };
      const billed = { amount: null, currency: null, interval: null, interval_count: null };
      const own = { stripe_subscription_item_id: null, linked_by_staff: false, current_period_end: null };
      tables.put('items', id, { ...item, id, ...named, ...billed, ...own, ...at });
    },
    async makeInvoice(customer_id) {
      const id = tables.nextId('invoices');
      const stripes = { stripe_invoice_id: null, stripe_customer_id: null, stripe_synced_at: null };
      const known = { provider_as_of: null, provider_gone_at: null, recheck_at: null };
      tables.put('invoices', id, {
        ...OWN_INVOICE,
        ...stripes,
        ...known,
        id,
        number: numbered('R', id),
        customer_id,
        subscription_id: null,
        paid_at: null,
        payment_failed_at: null,
        uncollectible: false,
        amount_off_stripe: null,
        amount_credited: '0.000',
        ...at,
      });
      return { id };
    },
    async makeLink(link) {
      tables.put('links', link.stripe_customer_id, {
        ...link,
        number_source: null,
        number_reported_at: null,
        number_reported_by: null,
        numbers: [],
        details: [],
        recheck_at: null,
        ...at,
      });
    },
  };
}

/** Like `agreeRefunds`. @returns the refunded amount of the payment */
function agreeModelRefunds(
  tables: ModelTables,
  before: StoredPayment,
  payment: StoredPayment,
  now: Date,
): string {
  const { refunds, disputes } = tables.rows;
  const ofIt = <Row extends { payment_id: number | null }>(rows: Map<number, Row>) =>
    [...rows.values()].filter(({ payment_id }) => payment_id === payment.id);
  if (before.status === 'refunded' && payment.status !== 'refunded') {
    for (const row of ofIt(refunds)) {
      const isOurs = row.stripe_refund_id === null;
      const version = row.version + 1;
      if (isOurs && row.status !== 'cancelled') {
        tables.put('refunds', row.id, { ...row, status: 'cancelled', version });
      } else if (row.status === 'pending')
        tables.put('refunds', row.id, { ...row, source: 'stripe', version });
    }
  }
  const { refunded } = cameBack(payment, { refunds: ofIt(refunds), disputes: ofIt(disputes) });
  if (payment.status !== 'refunded' || Number(refunded) === Number(payment.amount)) return refunded;
  const id = tables.nextId('refunds');
  tables.put('refunds', id, {
    id,
    payment_id: payment.id,
    stripe_refund_id: null,
    stripe_payment_intent_id: null,
    stripe_charge_id: null,
    stripe_invoice_id: null,
    amount: (Number(payment.amount) - Number(refunded)).toFixed(3),
    currency: payment.currency,
    status: 'succeeded',
    provider_status: null,
    source: 'api',
    reason: null,
    issued_at: now,
    provider_as_of: null,
    provider_gone_at: null,
    version: 0,
    created_at: now,
    updated_at: now,
  });
  return payment.amount;
}

/** Before a payment is deleted, Stripe's refunds and disputes are detached from it. */
function forgetMoneyBack(tables: ModelTables, paymentId: number): void {
  for (const row of tables.rows.refunds.values()) {
    if (row.payment_id !== paymentId) continue;
    if (row.stripe_refund_id === null) tables.delete('refunds', row.id);
    else {
      const version = row.version + 2; // one by the update, one by the foreign key
      tables.put('refunds', row.id, { ...row, source: 'stripe', payment_id: null, version });
    }
  }
  for (const row of tables.rows.disputes.values()) {
    if (row.payment_id !== paymentId) continue;
    tables.put('disputes', row.id, { ...row, payment_id: null, version: row.version + 1 });
  }
}

/** Like `settleInvoice`, after a payment of the invoice was written. */
function settleModelInvoice({ tables, now }: Model, id: number): void {
  const invoice = tables.rows.invoices.get(id);
  if (!invoice || invoice.stripe_invoice_id !== null) return;
  const ofInvoice = [...tables.rows.payments.values()].filter(({ invoice_id }) => invoice_id === id);
  const after = settled(invoice, ofInvoice, { today: toCalendarDate(now(), 'UTC'), now: now() });
  tables.put('invoices', id, { ...invoice, ...after, version: invoice.version + 1 });
}
