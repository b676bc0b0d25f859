import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { transact } from '@/db/transaction';
import { AppError, invalidField } from '../errors';
import type { RecordKind, RecordWriter, Row } from './record-kind';
import { saveRecordWithin } from './save-records';

/** A way from one status to another. */
export interface Step {
  from: readonly string[];
  to: string;
}

/** A kind whose records go from one status to another by certain steps. */
export interface SteppedKind<Name extends string = string> {
  kind: RecordKind;
  steps: Record<Name, Step>;
}

/** The names of the steps that a record in this status can take. */
export function stepsFrom<Name extends string>({ steps }: SteppedKind<Name>, status: string): Name[] {
  return (Object.keys(steps) as Name[]).filter((name) => steps[name].from.includes(status));
}

/**
 * Moves a record one step on.
 *
 * @param seen the record, and its version as the page showed it
 * @throws AppError not_found; validation_failed if its status does not allow the step, or the step does not exist;
 *   precondition_failed if it has changed since
 */
export async function takeStep(
  db: Database,
  { kind, steps }: SteppedKind,
  name: string,
  seen: { id: number; version: number },
  writer: RecordWriter,
): Promise<void> {
  const step = Object.hasOwn(steps, name) ? steps[name] : undefined;
  await transact(db, async (tx) => {
    const [row]: Row[] = await tx.select().from(kind.table).where(eq(kind.table.id, seen.id)).for('update');
    if (!row) throw new AppError('not_found', 'It no longer exists.');
    // Report a changed version first: it is the reason why the step no longer fits.
    if (row.version === seen.version && !step?.from.includes(String(row.status))) {
      throw invalidField('status', `does not allow this step: ${row.status}`);
    }
    await saveRecordWithin(tx, kind, { ...seen, values: { status: step?.to } }, writer);
  });
}
