import { NAMES, PLACES, type Place, placeOf, slugOf } from './names';
import {
  type Chance,
  type CustomerRow,
  type InvoiceRow,
  nulls,
  type SeedContext,
  type SeedRows,
  type StripeCustomerRow,
  type SubscriptionRow,
} from './rows';

/** Builds companies and private persons. Some have no e-mail address. None of the addresses can receive mail. */
export function buildCustomers(chance: Chance, count: number): CustomerRow[] {
  const taken = new Set<string>();
  const companies = new Set<string>();
  const shares = Object.fromEntries(PLACES.map(({ country, share }) => [country, share]));
  return Array.from({ length: count }, (_, i) => {
    const place = placeOf(chance.weighted(shares));
    const kind = chance.weighted({ company: 50, companyOnly: 12, person: 38 });
    const [postal_code, city] = chance.pick(place.cities);
    const { first, last, company, mailbox } = unusedName(chance, place, city, kind, companies);
    const inUnion = place.vatRate !== null;
    return {
      id: i + 1,
      customer_number: `K${10_001 + i}`,
      first_name: kind === 'companyOnly' ? null : first,
      last_name: kind === 'companyOnly' ? null : last,
      company,
      email: chance.happens(0.06) ? null : uniqueAddress(mailbox, taken),
      phone: chance.happens(0.25) ? null : chance.fill(chance.pick(place.phones)),
      street: chance.pick(place.streets).replace('{no}', String(chance.int(1, 98))),
      postal_code,
      city,
      country: place.country,
      vat_id: company && place.vatId && chance.happens(0.8) ? chance.fill(place.vatId) : null,
      tax_exempt: inUnion && chance.happens(0.03),
      buyer_reference: null,
      document_language: null,
      payment_terms: null,
      currency: place.currency,
      status: chance.weighted({ active: 84, inactive: 11, blocked: 5 }),
    };
  });
}

type Kind = 'company' | 'companyOnly' | 'person';

/** Draws a name. If its company is already used, draws again, up to 30 times. */
function unusedName(chance: Chance, place: Place, city: string, kind: Kind, companies: Set<string>) {
  let name = nameOf(chance, place, city, kind);
  for (let tries = 0; tries < 30 && name.company && companies.has(name.company); tries++) {
    name = nameOf(chance, place, city, kind);
  }
  if (name.company) companies.add(name.company);
  return name;
}

function nameOf(chance: Chance, place: Place, city: string, kind: Kind) {
  const names = NAMES[place.language];
  const [first = '', latinFirst = first] = chance.pick(names.first).split('|');
  const [last = '', latinLast = last] = chance.pick(names.last).split('|');
  if (kind === 'person') {
    const domain = chance.pick(['example.com', 'example.org', 'example.net']);
    return { first, last, company: null, mailbox: `${slugOf(latinFirst)}.${slugOf(latinLast)}@${domain}` };
  }
  const pattern = chance.pick(names.companies);
  const company = pattern.replace('{last}', last).replace('{city}', city);
  const site = slugOf(pattern.replace('{last}', ` ${latinLast} `).replace('{city}', city));
  const mailbox = `${chance.pick(['info', 'office', 'it', 'billing', slugOf(latinFirst)])}@${site}.example`;
  return { first, last, company, mailbox };
}

/**
 * Returns an unused e-mail address (`anna.weiss@…`, then `anna.weiss2@…`), because an address belongs to one customer.
 */
function uniqueAddress(mailbox: string, taken: Set<string>): string {
  let address = mailbox;
  for (let n = 2; taken.has(address); n++) address = mailbox.replace('@', `${n}@`);
  taken.add(address);
  return address;
}

/** Share of customers with two Stripe customers, who signed up again with another card. */
const TWICE = 0.03;

/** Builds the Stripe customers of all customers, including those that Stripe does not bill. */
export function buildStripeCustomers({ chance }: SeedContext, customers: CustomerRow[]): StripeCustomerRow[] {
  return customers.flatMap(({ id, email, tax_exempt }) =>
    Array.from({ length: chance.happens(TWICE) ? 2 : 1 }, () => {
      const stripe_customer_id = chance.fill('cus_**************');
      const linked_by = chance.weighted({
        number: 88,
        email: email === null || tax_exempt ? 0 : 8,
        staff: 4,
      });
      return {
        stripe_customer_id,
        customer_id: id,
        linked_by,
        number_source: linked_by === 'number' ? 'customer' : null,
        numbers: [],
        details: [],
        ...nulls('number_reported_at', 'number_reported_by', 'recheck_at'),
      };
    }),
  );
}

/** Keeps only the Stripe customers that one of the invoices or subscriptions names. */
export function billedByStripe(
  stripeCustomers: StripeCustomerRow[],
  rows: (InvoiceRow | SubscriptionRow)[],
): StripeCustomerRow[] {
  const billed = new Set(rows.map(({ stripe_customer_id }) => stripe_customer_id));
  return stripeCustomers.filter(({ stripe_customer_id }) => billed.has(stripe_customer_id));
}

/**
 * Adds proposed links to the sample data. Like sync, this function creates a separate customer for each Stripe customer
 * that matches an existing customer only by e-mail address. The invoices, payments and subscriptions of the Stripe
 * customer move to the new customer. The services stay with the existing customer.
 */
export function fileProposals(rows: SeedRows): SeedRows {
  const proposed = rows.stripe_customers.filter(({ linked_by }) => linked_by === 'email');
  const ids = new Map(proposed.map((link, i) => [link.stripe_customer_id, rows.customers.length + i + 1]));
  const refile = <Row extends { customer_id: number; stripe_customer_id: string | null }>(row: Row): Row => ({
    ...row,
    customer_id: ids.get(row.stripe_customer_id ?? '') ?? row.customer_id,
  });
  const invoices = rows.invoices.map(refile);
  const owners = new Map(invoices.map(({ id, customer_id }) => [id, customer_id]));
  const isFiled = (row: SubscriptionRow) => ids.has(row.stripe_customer_id ?? '');
  const filed = new Set(rows.subscriptions.filter(isFiled).map(({ id }) => id));
  return {
    ...rows,
    customers: [...rows.customers, ...proposed.map((link) => createdFor(link, ids, rows.customers))],
    stripe_customers: rows.stripe_customers.map((link) => {
      const customer_id = ids.get(link.stripe_customer_id);
      return customer_id === undefined ? link : { ...link, customer_id, linked_by: 'created' };
    }),
    subscriptions: rows.subscriptions.map(refile),
    subscription_items: rows.subscription_items.map((item) =>
      filed.has(item.subscription_id) ? { ...item, customer_service_id: null } : item,
    ),
    invoices,
    payments: rows.payments.map((row) => ({
      ...row,
      customer_id: owners.get(row.invoice_id) ?? row.customer_id,
    })),
  };
}

/** Builds the customer that sync would create from Stripe's data, in the currency of its invoices. */
function createdFor(
  { stripe_customer_id, customer_id }: StripeCustomerRow,
  ids: Map<string, number>,
  customers: CustomerRow[],
): CustomerRow {
  const same = customers.find(({ id }) => id === customer_id);
  const id = ids.get(stripe_customer_id);
  if (!same || id === undefined) throw new Error(`${stripe_customer_id} is nobody`);
  return {
    ...same,
    id,
    customer_number: `K${10_000 + id}`,
    first_name: null,
    last_name: same.company ?? [same.first_name, same.last_name].filter(Boolean).join(' '),
    company: null,
    vat_id: null,
    status: 'active',
  };
}
