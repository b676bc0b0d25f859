import { AppError } from '@/lib/errors';
import { relinkItem } from '@/lib/sync/staff/link-subscription';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { OF_MERGED, OWN_INVOICE } from '../setup';
import { ACTOR, type Hands, type Making, productHands } from '../stage';
import { defaultsOf } from '../tables';
import type { Model, ModelProcess } from './model';
import type { RowOf, TableName } from './tables';

/** Returns the actions of staff and programs, applied to the model. */
export function modelHands(model: Model, process: ModelProcess, deps: SyncDeps): Hands {
  const { tables } = model;
  const { items, subscriptions, services } = tables.rows;
  return {
    ...modelMaking(model),
    ...productHands(deps, process),
    linkItem: (id, serviceNumber) => {
      const found = subscriptions.get(items.get(id)?.subscription_id ?? 0);
      if (!found) throw new AppError('not_found', 'There is no such item.');
      return relinkItem(deps, ACTOR, found, id, serviceNumber);
    },
    dateService: (id, dates) =>
      process.stating(() =>
        tables.atOnce(() => {
          const service = services.get(id) as RowOf<'services'>;
          tables.put('services', id, { ...service, ...dates, version: service.version + 1 });
        }),
      ),
  };
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
