import { serviceStatus, serviceType } from '../schema';
import { SAFE_DAYS } from './calendar';
import { amountText, CATALOGUE, INTERVAL_MONTHS, priceIn } from './catalogue';
import type { Chance } from './chance';
import { slugOf } from './names';
import type { CustomerRow, ServerRow, ServiceRow, Source } from './rows';

const STATUS_WEIGHTS = { draft: 4, order: 5, active: 66, suspended: 5, cancelled: 12, terminated: 8 };
const TYPE_WEIGHTS = { hosting: 30, domain: 22, server: 17, license: 11, service: 12, other: 8 };
const NEEDS_SERVER = new Set<ServiceRow['service_type']>(['hosting', 'server']);
const HAS_DOMAIN = new Set<ServiceRow['service_type']>(['hosting', 'domain']);

export function buildServices(
  { chance, calendar }: Source,
  customers: CustomerRow[],
  servers: ServerRow[],
  count: number,
): ServiceRow[] {
  const holders = holdersByStatus(chance, customers);
  const running = servers.filter(({ status }) => status === 'active' || status === 'maintenance');
  const domains = new Set<string>();
  return kindsOf(chance, count).map(({ type, status }, i) => {
    const customer = chance.pick(holders[status]);
    const product = chance.pick(CATALOGUE[type]);
    const id = i + 1;
    return {
      id,
      service_number: `S${20_000 + id}`,
      customer_id: customer.id,
      server_id: NEEDS_SERVER.has(type) && isSetUp(status) ? chance.pick(running).id : null,
      service_type: type,
      status,
      name: product.name,
      domain: HAS_DOMAIN.has(type) ? domainOf(chance, customer, type, domains) : null,
      price: amountText(priceIn(customer.currency, product.cents), customer.currency),
      currency: customer.currency,
      billing_interval: product.interval,
      ...datesOf(),
      synced_billing_date: null,
      ends_on: null,
      synced_ends_on: null,
    };

    function datesOf(): Pick<ServiceRow, 'start_date' | 'next_billing_date' | 'cancelled_at'> {
      const none = { start_date: null, next_billing_date: null, cancelled_at: null };
      const age = chance.int(40, 1000);
      const billed = product.interval !== 'once';
      const next = calendar.day(chance.int(SAFE_DAYS, 28 * Math.max(1, INTERVAL_MONTHS[product.interval])));
      switch (status) {
        case 'draft':
          return none;
        case 'order':
          return { ...none, start_date: calendar.day(chance.int(1, 30)) };
        case 'active':
        case 'suspended':
          return { ...none, start_date: calendar.day(-age), next_billing_date: billed ? next : null };
        case 'cancelled':
        case 'terminated':
          return {
            ...none,
            start_date: calendar.day(-age - 60),
            cancelled_at: calendar.instant(-chance.int(SAFE_DAYS, age), chance.int(25_000, 65_000)),
          };
      }
    }
  });
}

/** Every type with every status at least once, the rest by weight. */
function kindsOf(chance: Chance, count: number) {
  const each = serviceType.enumValues.flatMap((type) =>
    serviceStatus.enumValues.map((status) => ({ type, status })),
  );
  const more = Array.from({ length: count - each.length }, () => ({
    type: chance.weighted(TYPE_WEIGHTS),
    status: chance.weighted(STATUS_WEIGHTS),
  }));
  return chance.shuffle([...each, ...more]);
}

/** Who may hold a service of a status: one customer in five none at all, one in twenty many. */
function holdersByStatus(
  chance: Chance,
  customers: CustomerRow[],
): Record<ServiceRow['status'], CustomerRow[]> {
  const weighted = customers.flatMap((customer) =>
    Array<CustomerRow>(Number(chance.weighted({ 0: 20, 1: 45, 2: 30, 9: 5 }))).fill(customer),
  );
  const active = weighted.filter(({ status }) => status === 'active');
  const blocked = weighted.filter(({ status }) => status === 'blocked');
  const suspended = [...blocked, ...blocked, ...active.slice(0, 20)];
  return { draft: active, order: active, active, suspended, cancelled: weighted, terminated: weighted };
}

function isSetUp(status: ServiceRow['status']): boolean {
  return status === 'active' || status === 'suspended' || status === 'cancelled';
}

function domainOf(
  chance: Chance,
  customer: CustomerRow,
  type: ServiceRow['service_type'],
  registered: Set<string>,
): string {
  const site = siteOf(customer);
  if (type === 'hosting')
    return `${chance.pick(['', '', 'www.', 'shop.', 'blog.', 'staging.'])}${site}.example`;
  const endings = ['', '-shop', '-online', '-blog', '-portal', '-jobs'];
  for (let n = 0; ; n++) {
    const domain = `${site}${endings[n] ?? `-${n}`}.example`;
    if (registered.has(domain)) continue;
    registered.add(domain);
    return domain;
  }
}

function siteOf({ email, company, last_name, customer_number }: CustomerRow): string {
  const host = email?.split('@')[1] ?? '';
  if (host.endsWith('.example')) return host.replace('.example', '');
  return slugOf(company ?? last_name ?? '') || customer_number.toLowerCase();
}
