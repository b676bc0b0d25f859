import type { PaymentWriter } from './write-payment';

/** A payment written by a member of staff. */
export function staffWriter(
  { now, env }: { now(): Date; env: { timeZone: string } },
  staff: { id: string; email: string },
): PaymentWriter {
  return {
    actor: { type: 'staff', id: staff.id, name: staff.email },
    source: 'staff',
    now: now(),
    timeZone: env.timeZone,
  };
}
