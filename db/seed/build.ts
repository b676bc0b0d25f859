import { clientsOf } from './catalogue';
import { billedByStripe, buildCustomers, buildStripeCustomers, fileProposals } from './customers';
import { buildInvoices } from './invoices';
import { buildLines } from './lines';
import { buildMoneyBack, buildPayments } from './payments';
import { createCalendar, createChance, type SeedRows, type Source } from './rows';
import { buildSalesDocuments } from './sales-documents';
import { buildServers, buildServices } from './services';
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
  const stripeCustomers = buildStripeCustomers(source('stripe'), customers);
  const clients = clientsOf(customers, services, stripeCustomers);
  const agreements = buildSubscriptions(source('subscriptions'), clients, 250);
  const subscriptions = agreements.map(({ row }) => row);
  const invoices = buildInvoices(source('invoices'), clients, agreements, 3000);
  // Of Stripe's invoices only the sums are stored, as sync does it.
  const own = invoices.filter(({ stripe_invoice_id }) => stripe_invoice_id === null);
  const documents = buildSalesDocuments(source('documents'), customers, invoices, 600);
  return fileProposals({
    customers,
    stripe_customers: billedByStripe(stripeCustomers, [...subscriptions, ...invoices]),
    servers,
    customer_services: services,
    subscriptions,
    subscription_items: agreements.flatMap(({ items }) => items),
    invoices,
    invoice_lines: buildLines(source('invoice lines'), clients, own, 'invoice_id'),
    sales_documents: documents,
    sales_document_lines: buildLines(source('document lines'), clients, documents, 'sales_document_id'),
    ...buildMoneyBack(source('money back'), buildPayments(source('payments'), invoices, 2500)),
  });
}
