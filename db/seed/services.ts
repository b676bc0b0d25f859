import { fromMinorUnits } from '@/lib/money';
import { INTERVAL_MONTHS, serviceStatus, serviceType } from '../schema';
import { CATALOGUE, priceIn } from './catalogue';
import { slugOf } from './names';
import {
  type Chance,
  type CustomerRow,
  SAFE_DAYS,
  type SeedContext,
  type ServerRow,
  type ServiceRow,
} from './rows';

const STATUS_WEIGHTS = { draft: 4, order: 5, active: 66, suspended: 5, cancelled: 12, terminated: 8 };
const TYPE_WEIGHTS = { hosting: 30, domain: 22, server: 17, license: 11, service: 12, other: 8 };
const NEEDS_SERVER = new Set<ServiceRow['service_type']>(['hosting', 'server']);
const SET_UP: ServiceRow['status'][] = ['active', 'suspended', 'cancelled'];
const HAS_DOMAIN = new Set<ServiceRow['service_type']>(['hosting', 'domain']);

export function buildServices(
  { chance, calendar }: SeedContext,
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
      server_id: NEEDS_SERVER.has(type) && SET_UP.includes(status) ? chance.pick(running).id : null,
      service_type: type,
      status,
      name: product.name,
      domain: HAS_DOMAIN.has(type) ? domainOf(chance, customer, type, domains) : null,
      price: fromMinorUnits(priceIn(customer.currency, product.cents), customer.currency),
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
      if (status === 'draft') return none;
      if (status === 'order') return { ...none, start_date: calendar.day(chance.int(1, 30)) };
      if (status === 'active' || status === 'suspended') {
        return { ...none, start_date: calendar.day(-age), next_billing_date: billed ? next : null };
      }
      const cancelled_at = calendar.instant(-chance.int(SAFE_DAYS, age), chance.int(25_000, 65_000));
      return { ...none, start_date: calendar.day(-age - 60), cancelled_at };
    }
  });
}

/** Draws a type and a status for each service. Every combination occurs at least once. */
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

/**
 * Returns the customers from which the holders of services are drawn, by status of the service. About one customer in
 * five is left out. One in twenty is listed nine times, and so gets many services.
 */
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

// biome-ignore format: a table is easier to read with one row per line
const ROLES = [
  { prefix: 'web', stack: 'LEMP', os: 'Debian 13', panel: 'Plesk Obsidian', cpu: 'AMD EPYC 7443P', cores: 24, ram: 128, storage: '2 × 3.84 TB NVMe, RAID 1' },
  { prefix: 'shared', stack: 'LAMP', os: 'Ubuntu 24.04 LTS', panel: 'ISPConfig 3.2', cpu: 'AMD EPYC 7302P', cores: 16, ram: 128, storage: '4 × 1.92 TB SSD, RAID 10' },
  { prefix: 'cp', stack: 'LAMP', os: 'AlmaLinux 9', panel: 'cPanel', cpu: 'Intel Xeon Silver 4314', cores: 16, ram: 96, storage: '2 × 1.92 TB NVMe, RAID 1' },
  { prefix: 'pve', stack: 'Proxmox', os: 'Proxmox VE 9', panel: null, cpu: 'AMD EPYC 9354P', cores: 32, ram: 512, storage: '6 × 7.68 TB NVMe, ZFS' },
  { prefix: 'k8s', stack: 'Kubernetes', os: 'Talos Linux 1.11', panel: null, cpu: 'AMD Ryzen 9 7950X', cores: 16, ram: 128, storage: '2 × 1.92 TB NVMe' },
  { prefix: 'mail', stack: 'Postfix/Dovecot', os: 'Debian 12', panel: 'Mailcow', cpu: 'Intel Xeon E-2388G', cores: 8, ram: 64, storage: '4 × 8 TB HDD, RAID 6' },
  { prefix: 'db', stack: 'PostgreSQL', os: 'Debian 13', panel: null, cpu: 'AMD EPYC 7543', cores: 32, ram: 256, storage: '4 × 3.84 TB NVMe, RAID 10' },
  { prefix: 'win', stack: 'IIS', os: 'Windows Server 2025', panel: 'Plesk Obsidian', cpu: 'Intel Xeon Gold 5318Y', cores: 24, ram: 192, storage: '2 × 3.84 TB NVMe, RAID 1' },
];

const SITES = [
  { code: 'nue1', location: 'Nürnberg, DE' },
  { code: 'fra2', location: 'Frankfurt am Main, DE' },
  { code: 'vie1', location: 'Wien, AT' },
  { code: 'iad1', location: 'Ashburn, US' },
  { code: 'nrt1', location: '東京, JP' },
];

/** IPv4 networks reserved for documentation (RFC 5737). The IPv6 addresses use 2001:db8::/32 (RFC 3849). */
const NETS = ['192.0.2', '198.51.100', '203.0.113'];

export function buildServers(chance: Chance, count: number): ServerRow[] {
  return Array.from({ length: count }, (_, i) => {
    const role = ROLES[i % ROLES.length] ?? chance.pick(ROLES);
    const site = SITES[i % SITES.length] ?? chance.pick(SITES);
    const number = String(Math.floor(i / ROLES.length) + 1).padStart(2, '0');
    const net = NETS[i % NETS.length];
    const host = 4 * Math.floor(i / NETS.length) + 2;
    return {
      id: i + 1,
      hostname: `${role.prefix}${number}.${site.code}.hosting.example`,
      ipv4: Array.from({ length: chance.int(1, 3) }, (_, n) => `${net}.${host + n}`),
      ipv6: chance.happens(0.15) ? [] : [`2001:db8:${(i + 16).toString(16)}::1`],
      stack: role.stack,
      operating_system: role.os,
      cpu: role.cpu,
      cpu_cores: role.cores,
      ram_gb: role.ram * chance.pick([1, 1, 2]),
      storage: role.storage,
      control_panel: role.panel,
      location: site.location,
      // Use every status at least once.
      status: (['maintenance', 'offline', 'decommissioned'] as const)[i % 13] ?? 'active',
    };
  });
}
