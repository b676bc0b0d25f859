import type { SteppedKind } from '../records/take-step';
import type { TypedKind } from '../records/typed-fields';
import { serverKind } from './save-servers';

/** A server as a form has it; its status changes by steps. */
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
