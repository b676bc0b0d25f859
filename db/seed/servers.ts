import type { Chance } from './chance';
import type { ServerRow } from './rows';

// biome-ignore format: a table reads best as one
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

/** Only addresses kept for documentation (RFC 5737, RFC 3849). */
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
      // Every status occurs at least once.
      status: (['maintenance', 'offline', 'decommissioned'] as const)[i % 13] ?? 'active',
    };
  });
}
