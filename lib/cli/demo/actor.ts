import { commandActor } from '../../audit/audit-log';

/** How the audit log and its own tokens name the demo. */
export const DEMO = 'demo';
export const DEMO_ACTOR = commandActor(DEMO);
