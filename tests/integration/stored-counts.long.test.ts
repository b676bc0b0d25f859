import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { afterAll, expect, inject, test } from 'vitest';
import { openEmbedded, openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { recountLists } from '@/lib/counted-list/check-counts';
import { listInvoices } from '@/lib/invoices/list';
import { withDatabase } from '../support/database-url';
import { temporaryFolder } from '../support/run-command';

const KILLS = 4;
const server = inject('postgres');
const folder = temporaryFolder();
const name = `w5t_killed_${process.pid}`;
const url = server && withDatabase(server.url, name);
const admin = server ? openPostgres(server.url, { max: 1 }) : null;
let writer: ChildProcess | undefined;

afterAll(async () => {
  writer?.kill('SIGKILL');
  await admin?.db.execute(sql.raw(`drop database if exists ${name} with (force)`));
  await admin?.close();
});

function startWriter(): ChildProcess {
  const { PATH, HOME } = process.env;
  return fork(join(import.meta.dirname, '../support/count-writer.ts'), [], {
    execArgv: ['--import', 'tsx'],
    env: { PATH, HOME, NODE_ENV: 'test', ...(url ? { DATABASE_URL: url } : { DATA_DIR: folder }) },
  });
}

/** Ends all sessions of the database, which rolls back their transactions, and waits up to five seconds for each. */
const endSessions = async () =>
  await admin?.db.execute(
    sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = ${name}`,
  );

/** Expects the stored counts and sums to match the tables. */
async function requireRight(db: Database): Promise<void> {
  const total = await db.$count(sql`invoices`);
  expect((await listInvoices(db, {})).total).toBe(total);
  for await (const { list, wrong } of recountLists(db)) expect({ list, wrong }).toEqual({ list, wrong: [] });
}

test('stored counts and sums match the tables after the writing process is killed', async () => {
  await admin?.db.execute(sql.raw(`create database ${name} template ${server?.template}`));
  for (let kill = 0; kill < KILLS; kill += 1) {
    writer = startWriter();
    await once(writer, 'message');
    await sleep(500 * Math.random());
    await endSessions();
    await sleep(500 * Math.random());
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    await endSessions(); // Otherwise sessions could still commit during the check.
    const handle = url ? openPostgres(url) : await openEmbedded(folder);
    await requireRight(handle.db).finally(() => handle.close());
  }
}, 120_000);
