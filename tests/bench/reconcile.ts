import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { withMigratedDatabase } from './database';
import type { Measured } from './reconcile-run';
import type { Order, Returned } from './reconcile-stripe';

const SIZES = (process.env.BENCH_SIZES ?? '10000,100000').split(',').map(Number);
const DRIFT = 0.01;
const KEY = 'sk_test_bench';
const MEMORY_LIMIT_MB = 30;

const inUse: number[] = [];
for (const size of SIZES) {
  await withMigratedDatabase(async (db, databaseUrl) => {
    console.log(`\n${size.toLocaleString('en')} subscriptions`);
    await fillCompany(db, size);
    const stripe = start('reconcile-stripe.ts', [databaseUrl, KEY]);
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
  ended.catch(() => {}); // Prevent an unhandled rejection when the process ends later.
  return answer;
}

async function measureRun(databaseUrl: string, stripeUrl: string, stripe: ChildProcess) {
  const before = Number(await ask(stripe, { order: 'count' }));
  const measured = (await answerOf(start('reconcile-run.ts', [databaseUrl, KEY, stripeUrl]))) as Measured;
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

/**
 * Counts the subscriptions and invoices that are open at Stripe. A run has to list all of them, although they are older
 * than its window.
 */
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

/**
 * Creates live subscriptions, each with a customer, one item with a service, and an old paid invoice with its payment.
 * Every twentieth subscription also has an open invoice.
 */
async function fillCompany(db: Database, subscriptions: number): Promise<void> {
  const n = sql.raw(`generate_series(1, ${subscriptions}) as n`);
  const statements = [
    sql`insert into customers (customer_number, company, email)
      select 'B-' || n, 'Company ' || n, 'company-' || n || '@example.com' from ${n}`,
    sql`insert into stripe_customers (stripe_customer_id, customer_id, linked_by)
      select 'cus_bench' || substr(customer_number, 3), id, 'number' from customers`,
    sql`insert into customer_services (service_number, customer_id, service_type, status, name, price, next_billing_date)
      select 'S' || customer_number, id, 'hosting', 'active', 'Hosting', 19, '2026-12-10' from customers`,
    sql`insert into subscriptions (customer_id, status, next_billing_date, stripe_subscription_id,
        stripe_customer_id, stripe_synced_at, provider_as_of, created_at)
      select id, 'active', '2026-12-10', 'sub_bench' || substr(customer_number, 3),
        'cus_bench' || substr(customer_number, 3), '2026-11-10T12:00Z', '2026-11-10T12:00Z', '2026-01-10T12:00Z'
      from customers`,
    sql`insert into subscription_items (subscription_id, customer_service_id, stripe_subscription_item_id,
        named_service_id, named_service_number, quantity, current_period_end)
      select s.id, c.id, 'si_bench' || s.id, c.id::text, c.service_number, 1, '2026-12-10T12:00Z'
      from subscriptions s join customer_services c using (customer_id)`,
    invoicesOf(
      sql`'paid'::invoice_status, '2026-02-10'::date, null::date, 22.61, 0, '2026-02-10T12:00Z'::timestamptz, 0`,
      'P',
      sql`true`,
    ),
    invoicesOf(
      sql`'sent'::invoice_status, '2026-11-10'::date, '2026-12-24'::date, 0, 22.61, null::timestamptz, 0`,
      'O',
      sql`s.id % 20 = 0`,
    ),
    sql`insert into payments (invoice_id, customer_id, amount, currency, payment_date, payment_reference,
        status, source, provider_amount, stripe_payment_intent_id)
      select id, customer_id, total, currency, '2026-02-10', stripe_invoice_id, 'completed', 'stripe', total,
        'pi_bench' || id
      from invoices where status = 'paid'`,
    sql`analyze`,
  ];
  for (const statement of statements) await db.execute(statement);
}

function invoicesOf(state: ReturnType<typeof sql>, prefix: string, where: ReturnType<typeof sql>) {
  return sql`insert into invoices (number, customer_id, subscription_id, currency, subtotal, tax, total,
      stripe_invoice_id, stripe_customer_id, stripe_synced_at, provider_as_of,
      status, invoice_date, due_date, amount_paid, amount_due, paid_at, amount_off_stripe)
    select ${prefix}::text || s.id, s.customer_id, s.id, 'eur', 19, 3.61, 22.61, 'in_bench' || ${prefix}::text || s.id,
      s.stripe_customer_id, '2026-11-10T12:00Z'::timestamptz, '2026-11-10T12:00Z'::timestamptz, x.*
    from subscriptions s, lateral (select ${state}) as x where ${where}`;
}
