import { AppError } from '@/lib/errors';
import { checkPayment, referenceTaken } from '@/lib/payments/check-payment';
import { relinkItem } from '@/lib/sync/staff/link-item';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import type { StoredPayment } from '@/lib/sync/store/rows';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import type { Hands, NewPayment } from '../hands';
import { modelMaking } from './making';
import type { Model } from './model';
import type { ModelProcess } from './process';
import { agreeModelRefunds, forgetMoneyBack } from './recorded-refunds';
import { settleModelInvoice } from './settle-invoice';

const ACTOR = { type: 'cli', id: 'simulation', name: 'simulation' } as const;
const byId = <T extends { id: number }>(rows: Iterable<T>) => [...rows].sort((a, b) => a.id - b.id);

/** What pages and programs do, over the model. */
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
