import { createCalendar } from './calendar';
import { createChance } from './chance';
import { buildCustomers } from './customers';
import { buildInvoices } from './invoices';
import { buildPayments } from './payments';
import type { SeedRows, Source } from './rows';
import { buildSalesDocuments } from './sales-documents';
import { buildServers } from './servers';
import { buildServices } from './services';
import { buildStripeCustomers } from './stripe-customers';
import { buildSubscriptions } from './subscriptions';

export interface SeedOptions {
  /** YYYY-MM-DD; every date is an offset from it. */
  today: string;
  /** IANA name: in it instants fall on calendar dates. */
  timeZone: string;
  /** Another number, another company. */
  seed?: number;
}

const DEFAULT_SEED = 20_010;

/** Pure: the same options give the same rows. */
export function buildRows({ today, timeZone, seed = DEFAULT_SEED }: SeedOptions): SeedRows {
  const chance = createChance(seed);
  const calendar = createCalendar(today, timeZone);
  const source = (name: string): Source => ({ chance: chance.branch(name), calendar });

  const customers = buildCustomers(chance.branch('customers'), 400);
  const servers = buildServers(chance.branch('servers'), 40);
  const services = buildServices(source('services'), customers, servers, 900);
  const agreements = buildSubscriptions(source('subscriptions'), customers, services, 250);
  const invoices = buildInvoices(source('invoices'), customers, services, agreements, 3000);
  return {
    customers,
    stripe_customers: buildStripeCustomers(source('stripe'), customers, agreements, invoices),
    servers,
    customer_services: services,
    subscriptions: agreements.map(({ row }) => row),
    subscription_items: agreements.flatMap(({ items }) => items),
    invoices,
    sales_documents: buildSalesDocuments(source('documents'), customers, invoices, 600),
    payments: buildPayments(source('payments'), invoices, 2500),
  };
}
