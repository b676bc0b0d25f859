import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { withMigratedDatabase } from '../database';
import { fillCompany } from './fill';
import type { Measured } from './one-run';
import type { Order, Returned } from './stripe';

const SIZES = (process.env.BENCH_SIZES ?? '10000,100000').split(',').map(Number);
const DRIFT = 0.01;
const KEY = 'sk_test_bench';
const MEMORY_LIMIT_MB = 30;

const inUse: number[] = [];
for (const size of SIZES) {
  await withMigratedDatabase(async (db, databaseUrl) => {
    console.log(`\n${size.toLocaleString('en')} subscriptions`);
    await fillCompany(db, size);
    const stripe = start('stripe.ts', [databaseUrl, KEY]);
    try {
      const url = String(await answerOf(stripe));
      const performRun = async (name: string) => report(name, await measureRun(databaseUrl, url, stripe));
      await performRun('first, all of history');
      const drifted = Number(await ask(stripe, { order: 'drift', share: DRIFT }));
      const allowed = Math.ceil((await openAtStripe(db)) / 100) + drifted + 10;
      const second = await performRun(`second, ${drifted} drifted`);
      require(second.requests <= allowed, `requests at most ${allowed}`);
      const third = await performRun('third');
      require(third.changes === 0, 'the third changes nothing');
      const { listed, retrieved } = (await ask(stripe, { order: 'return', share: DRIFT })) as Returned;
      const bound = Math.ceil(((await openAtStripe(db)) + listed) / 100) + retrieved + 10;
      const fourth = await performRun(`fourth, ${listed} payments came back`);
      require(fourth.requests <= bound, `requests at most ${bound}`);
      const fifth = await performRun('fifth');
      require(fifth.changes === 0, 'the fifth changes nothing');
      inUse.push(Math.max(second.liveMb, fourth.liveMb));
    } finally {
      stripe.kill();
    }
  });
}
const growth = (inUse.at(-1) ?? 0) - (inUse[0] ?? 0);
require(growth <
  MEMORY_LIMIT_MB, `the memory in use grows by less than ${MEMORY_LIMIT_MB} MB (${growth.toFixed(0)} MB)`);

function start(script: string, args: string[]): ChildProcess {
  const file = new URL(import.meta.resolve(`./${script}`));
  return fork(file, args, { execArgv: ['--expose-gc', '--import', 'tsx'] });
}

async function ask(child: ChildProcess, order: Order): Promise<unknown> {
  child.send(order);
  return answerOf(child);
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a process of the benchmark ended with ${code}`);
  });
  const [answer] = await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => {}); // it ends later, as it should
  return answer;
}

async function measureRun(databaseUrl: string, stripeUrl: string, stripe: ChildProcess) {
  const before = Number(await ask(stripe, { order: 'count' }));
  const measured = (await answerOf(start('one-run.ts', [databaseUrl, KEY, stripeUrl]))) as Measured;
  return { ...measured, requests: Number(await ask(stripe, { order: 'count' })) - before };
}

function report<T extends Measured & { requests: number }>(name: string, run: T): T {
  console.log(
    `  ${name}: ${run.status}, ${run.checked} checked, ${run.changes} changed, ${run.failures} failed; ` +
      `${run.requests} requests, ${run.seconds.toFixed(1)} s, ` +
      `${run.liveMb.toFixed(0)} MB in use, peak ${run.peakMb.toFixed(0)} MB`,
  );
  return run;
}

/** All that a run has to list: what is open. Nothing here was created within its window. */
async function openAtStripe(db: Database): Promise<number> {
  const [row] = await rows<{ open: number }>(
    db,
    sql`select ((select count(*) from subscriptions where status <> 'cancelled')
      + (select count(*) from invoices where status in ('draft', 'sent', 'overdue')))::int as open`,
  );
  return row?.open ?? 0;
}

function require(holds: boolean, what: string): void {
  console.log(`  ${what}: ${holds ? 'yes' : 'NO'}`);
  if (!holds) process.exitCode = 1;
}
