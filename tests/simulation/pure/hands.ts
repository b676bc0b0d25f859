import { toCalendarDate } from '@/lib/dates';
import { AppError } from '@/lib/errors';
import { leftOf, settled } from '@/lib/invoices/settle';
import { checkPayment, referenceTaken } from '@/lib/payments/lock-payment';
import { cameBack } from '@/lib/payments/money-back';
import { alreadyCounted, isMoreAtStripe, namesStripeMoney, toMoneyTask } from '@/lib/payments/stripe-payment';
import type { StoredPayment, StoredRefund } from '@/lib/sync/snapshot';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { relinkItem } from '@/lib/sync/staff/link-subscription';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { OF_MERGED, OWN_INVOICE } from '../setup';
import type { Hands, Making, NewPayment } from '../stage';
import { defaultsOf } from '../tables';
import { bookModel } from './book';
import type { Model, ModelProcess } from './model';
import type { ModelTables, RowOf, TableName } from './tables';

const ACTOR = { type: 'cli', id: 'simulation', name: 'simulation' } as const;
const byId = <T extends { id: number }>(rows: Iterable<T>) => [...rows].sort((a, b) => a.id - b.id);

/** Returns the functions that pages and programs call, over the model. */
export function modelHands(model: Model, process: ModelProcess, deps: SyncDeps): Hands {
  const { tables } = model;
  const { rows } = tables;
  const ownerOf = (subscriptionId: number) => rows.subscriptions.get(subscriptionId);
  const write = <T>(work: () => T) => process.stating(() => tables.atOnce(work));
  const { timeZone } = deps;
  const book = (payment: number) => {
    const today = toCalendarDate(model.now(), timeZone);
    bookModel(tables, { invoices: [], payments: [payment], today, timeZone });
  };
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
        book(id);
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
        book(id);
        warnOfModelExcess(tables, before, { ...after, refunded_amount });
      }),
    recordPayment: (payment) =>
      write(() => {
        const made = insertPayment(model, payment);
        book(made.id);
        warnOfModelExcess(tables, null, made);
        return made;
      }),
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
  refuseCountedModel(tables, payment);
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
    stripe_charge_id: null,
    version: 0,
    created_at: now(),
    updated_at: now(),
  };
  tables.put('payments', made.id, made);
  settleModelInvoice(model, made.invoice_id);
  return made;
}

/**
 * Refuses a payment like `refuseCounted`. A sync that is deciding on the invoice at the same time notices it by the
 * version of the link.
 */
function refuseCountedModel(
  tables: ModelTables,
  { payment_reference: reference, invoice_id }: NewPayment,
): void {
  if (!namesStripeMoney(reference)) return;
  const invoice = tables.rows.invoices.get(invoice_id);
  const link = tables.rows.links.get(invoice?.stripe_customer_id ?? '');
  if (link) tables.put('links', link.stripe_customer_id, { ...link, version: link.version + 1 });
  const counted = [...tables.rows.payments.values()].find(
    (row) =>
      row.source === 'stripe' &&
      (row.stripe_payment_intent_id === reference ||
        row.stripe_charge_id === reference ||
        row.payment_reference === invoice?.stripe_invoice_id ||
        (row.invoice_id === invoice_id && invoice?.stripe_invoice_id != null)),
  );
  if (counted) throw alreadyCounted(counted);
}

/** Warns like `warnOfExcess`. */
function warnOfModelExcess(tables: ModelTables, before: StoredPayment | null, after: StoredPayment): void {
  const invoice = tables.rows.invoices.get(after.invoice_id);
  if (!invoice || !isMoreAtStripe(invoice, before, after)) return;
  const beside = [...tables.rows.payments.values()].filter(
    (one) =>
      one.invoice_id === after.invoice_id &&
      one.id !== after.id &&
      one.source !== 'stripe' &&
      !namesStripeMoney(one.payment_reference),
  );
  const task = toMoneyTask(
    invoice,
    after,
    beside.reduce((sum, one) => sum + leftOf(one), 0),
  );
  if (task) tables.tell(task);
}

/** Creates rows like the factories of the tests. */
function modelMaking({ tables, now }: Model): Making {
  const fresh = (name: TableName) => ({
    ...defaultsOf(name),
    created_at: now(),
    updated_at: now(),
    version: 0,
  });
  const make = <Name extends TableName>(name: Name, given: Partial<RowOf<Name>>): number => {
    const id = tables.nextId(name);
    tables.put(name, id as never, { ...fresh(name), id, ...given } as unknown as RowOf<Name>);
    return id;
  };
  const nextNumber = (letter: string, name: TableName) =>
    letter + String((tables.ids[name] ?? 0) + 1).padStart(5, '0');
  return {
    async makeCustomer(email) {
      const customer_number = nextNumber('K', 'customers');
      const id = make('customers', { customer_number, email, last_name: `Tester${customer_number}` });
      return { id, customer_number };
    },
    async makeMerged(customer_id) {
      const [id, customer_number] = [OF_MERGED + customer_id, `M${customer_id}`];
      tables.put('merged', id, { id, customer_number, customer_id });
      return customer_number;
    },
    async makeService({ price, ...given }) {
      const service_number = nextNumber('S', 'services');
      const named = { service_number, price: Number(price).toFixed(3), status: 'active' as const };
      return { id: make('services', { ...given, ...named }), service_number };
    },
    makeSold: async (customer_id) => ({ id: make('subscriptions', { customer_id, status: 'incomplete' }) }),
    makeSoldItem: async (item) => void make('items', item),
    makeInvoice: async (customer_id) => ({
      id: make('invoices', { ...OWN_INVOICE, number: nextNumber('R', 'invoices'), customer_id }),
    }),
    makeLink: async (link) => {
      tables.put('links', link.stripe_customer_id, {
        ...fresh('links'),
        ...link,
      } as unknown as RowOf<'links'>);
    },
  };
}

/** Matches refunds like `agreeRefunds`. @returns the refunded amount of the payment */
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
  const made = {
    ...{ ...defaultsOf('refunds'), id, payment_id: payment.id, currency: payment.currency, version: 0 },
    ...{ amount: (Number(payment.amount) - Number(refunded)).toFixed(3), status: 'succeeded', source: 'api' },
    ...{ issued_at: now, created_at: now, updated_at: now },
  };
  tables.put('refunds', id, made as unknown as StoredRefund);
  return payment.amount;
}

/** Detaches Stripe's refunds and disputes from a payment before it is deleted. */
function forgetMoneyBack(tables: ModelTables, paymentId: number): void {
  for (const row of tables.rows.refunds.values()) {
    if (row.payment_id !== paymentId) continue;
    if (row.stripe_refund_id === null) tables.delete('refunds', row.id);
    else {
      const version = row.version + 2; // one increment by the update, one by the foreign key
      tables.put('refunds', row.id, { ...row, source: 'stripe', payment_id: null, version });
    }
  }
  for (const row of tables.rows.disputes.values()) {
    if (row.payment_id !== paymentId) continue;
    tables.put('disputes', row.id, { ...row, payment_id: null, version: row.version + 1 });
  }
}

/** Settles an invoice like `settleInvoice`, after one of its payments was written. */
function settleModelInvoice({ tables, now }: Model, id: number): void {
  const invoice = tables.rows.invoices.get(id);
  if (!invoice || invoice.stripe_invoice_id !== null) return;
  const ofInvoice = [...tables.rows.payments.values()].filter(({ invoice_id }) => invoice_id === id);
  const after = settled(invoice, ofInvoice, { today: toCalendarDate(now(), 'UTC'), now: now() });
  tables.put('invoices', id, { ...invoice, ...after, version: invoice.version + 1 });
}
