import type { RecordWriter } from './record-kind';

/** A record written by a member of staff. */
export function staffRecordWriter(
  { now, env }: { now(): Date; env: { timeZone: string } },
  staff: { id: string; email: string },
): RecordWriter {
  return {
    actor: { type: 'staff', id: staff.id, name: staff.email },
    now: now(),
    timeZone: env.timeZone,
  };
}
