import { z } from 'zod';
import { serverStatus, servers } from '@/db/schema';
import { textLine } from '../fields';
import { optionalChoice, optionalText } from '../records/fields';
import type { RecordKind } from '../records/record-kind';
import type { SteppedKind } from '../records/steps';
import type { TypedKind } from '../records/typed-record';

const count = (most: number) =>
  z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(most, `must be at most ${most}`)
    .nullable()
    .optional();

/** Converts a host name to lower case, in which host names are stored. */
export function toHostname(text: string): string {
  return text.toLowerCase();
}

export const serverKind: RecordKind = {
  name: 'server',
  table: servers,
  key: 'hostname',
  toKey: toHostname,
  fields: z.object({
    hostname: textLine(253, toHostname).regex(
      /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
      'must be a host name',
    ),
    ipv4: z.array(z.ipv4('must be IPv4 addresses')).max(1000, 'has too many addresses').optional(),
    ipv6: z.array(z.ipv6('must be IPv6 addresses')).max(1000, 'has too many addresses').optional(),
    stack: optionalText(200),
    operating_system: optionalText(200),
    cpu: optionalText(200),
    cpu_cores: count(100_000),
    ram_gb: count(1_000_000),
    storage: optionalText(200),
    control_panel: optionalText(200),
    location: optionalText(200),
    status: optionalChoice(serverStatus.enumValues),
  }),
};

/** The form fields of a server. The status is not among them, because staff change it by `serverSteps`. */
export const typedServer = {
  kind: serverKind,
  fields: {
    hostname: 'text',
    ipv4: 'list',
    ipv6: 'list',
    operating_system: 'text',
    stack: 'text',
    control_panel: 'text',
    cpu: 'text',
    cpu_cores: 'number',
    ram_gb: 'number',
    storage: 'text',
    location: 'text',
  },
} satisfies TypedKind;

export const serverSteps = {
  kind: serverKind,
  steps: {
    maintain: { from: ['active', 'offline'], to: 'maintenance' },
    reactivate: { from: ['maintenance', 'offline', 'decommissioned'], to: 'active' },
    decommission: { from: ['active', 'maintenance', 'offline'], to: 'decommissioned' },
  },
} satisfies SteppedKind;
