import { AppError } from '@/lib/errors';
import { writePayment } from '@/lib/payments/write-payment';
import { linkStripeCustomer } from '@/lib/sync/staff/link-stripe-customer';
import { relinkItem } from '@/lib/sync/staff/link-subscription';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { OF_MERGED, OWN_INVOICE } from '../setup';
import type { Hands, Making } from '../stage';
import { defaultsOf } from '../tables';
import type { Model, ModelProcess } from './model';
import type { RowOf, TableName } from './tables';

const ACTOR = { type: 'cli', id: 'simulation', name: 'simulation' } as const;
const byId = <T extends { id: number }>(rows: Iterable<T>) => [...rows].sort((a, b) => a.id - b.id);

/** Returns the actions of staff and programs, applied to the model. */
export function modelHands(model: Model, process: ModelProcess, deps: SyncDeps): Hands {
  const { tables } = model;
  const { rows } = tables;
  const ownerOf = (subscriptionId: number) => rows.subscriptions.get(subscriptionId);
  const write = <T>(work: () => T) => process.stating(() => tables.atOnce(work));
  const writer = () => ({
    actor: ACTOR,
    source: 'api' as const,
    now: model.now(),
    clock: model.now,
    timeZone: deps.timeZone,
  });
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
    deletePayment: async (id) => {
      await writePayment(process, { kind: 'delete', id }, writer());
    },
    updatePayment: async (id, changes) => {
      await writePayment(process, { kind: 'update', id, changes }, writer());
    },
    recordPayment: async (input) => {
      const { after } = await writePayment(process, { kind: 'record', input, onlyNew: true }, writer());
      return existing(after ?? undefined, 'payment');
    },
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

/** Creates the same rows as the test factories. */
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
