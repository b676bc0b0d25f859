import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getTableColumns } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { waitForLock } from '@/db/lock';
import { alerts } from '@/db/schema';
import { transact } from '@/db/transaction';
import type { Env } from '../env';
import type { AlertState } from './alert-state';

/** Stores the state of alerts, shared by all processes of the service. */
export interface AlertStore {
  list(): Promise<AlertState[]>;
  /**
   * Stores the alerts that `work` returns. No other process changes the alerts while `work` runs, so that a problem
   * that two processes find is reported only once.
   */
  change<Changed extends AlertState[] | AlertState | null>(
    work: (known: AlertState[]) => Changed,
  ): Promise<Changed>;
}

/** Stores alerts in the table `alerts`. */
export function databaseStore(db: Database): AlertStore {
  const read = (tx: Database) =>
    tx
      .select({ ...columns })
      .from(alerts)
      .orderBy(alerts.started_at, alerts.cause);
  return {
    list: () => read(db),
    change: async (work) => {
      const planned = work(await read(db)); // usually nothing has changed, so no lock is needed
      if (toList(planned).length === 0) return planned;
      return transact(
        db,
        async (tx) => {
          const changed = work(await read(tx));
          for (const alert of toList(changed)) {
            await tx.insert(alerts).values(alert).onConflictDoUpdate({ target: alerts.cause, set: alert });
          }
          return changed;
        },
        undefined,
        'alerts',
      );
    },
  };
}

const { created_at: _created, updated_at: _updated, ...columns } = getTableColumns(alerts);

const instant = z.coerce.date();
const stored = z.array(
  z.object({
    cause: z.string(),
    message: z.string(),
    started_at: instant,
    ended_at: instant.nullable(),
    pending: z.array(z.string()),
    attempts: z.int(),
    failure: z.string().nullable(),
    next_attempt_at: instant.nullable(),
    delivered_at: instant.nullable(),
  }),
);

/**
 * Stores alerts in a small file, for problems during which the database cannot be used. The processes on one machine
 * share the file. It is below DATA_DIR, or in the system's temporary folder if DATA_DIR is not writable.
 */
export function fileStore(env: Pick<Env, 'dataDir' | 'databaseUrl'>): AlertStore {
  const folder = folderFor(env);
  const file = join(folder, 'alerts.json');
  const read = (): AlertState[] => {
    try {
      return stored.parse(JSON.parse(readFileSync(file, 'utf8')));
    } catch (error) {
      // A missing file means that there are no alerts. A damaged file counts as missing, because repeating an alert is
      // better than losing it.
      if (error instanceof SyntaxError || error instanceof z.ZodError || isMissing(error)) return [];
      throw error;
    }
  };
  return {
    list: async () => read(),
    change: async (work) => {
      const planned = work(read());
      if (toList(planned).length === 0) return planned;
      const unlock = await waitForLock(folder);
      try {
        const known = read();
        const changed = work(known);
        const causes = new Set(toList(changed).map(({ cause }) => cause));
        const kept = [...known.filter(({ cause }) => !causes.has(cause)), ...toList(changed)];
        const draft = `${file}.${process.pid}.tmp`;
        writeFileSync(draft, JSON.stringify(kept), { mode: 0o600 });
        renameSync(draft, file); // atomic, so that a crash leaves the old or the new state
        return changed;
      } finally {
        unlock();
      }
    },
  };
}

function folderFor({ dataDir, databaseUrl }: Pick<Env, 'dataDir' | 'databaseUrl'>): string {
  const id = createHash('sha256').update(`${dataDir}\n${databaseUrl}`).digest('hex').slice(0, 12);
  const own = join(dataDir, 'alerts');
  return isWritable(own) ? own : join(tmpdir(), `w5t-alerts-${id}`);
}

function isWritable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false; // the caller then uses the temporary folder
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

function toList(changed: AlertState[] | AlertState | null): AlertState[] {
  return changed === null ? [] : Array.isArray(changed) ? changed : [changed];
}
