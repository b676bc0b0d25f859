import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Database } from '@/db/database';
import { stripeEvents } from '@/db/schema';
import { seededChance } from '../../chance';
import { fromEpoch, toEpoch } from '../../dates';
import type { Env } from '../../env';
import { localUrl } from '../../server/listen';
import { fromInbox } from '../../stripe/event';
import { fillFromDatabase } from '../../stripe-local/fill-from-database';
import { triggerEvent } from '../../stripe-local/happenings';
import type { Invoice, WorldEvent } from '../../stripe-local/model';
import { loadWorld, saveWorld } from '../../stripe-local/persist';
import { renderEvent } from '../../stripe-local/render/object';
import { type StripeLocal, startStripeLocal } from '../../stripe-local/server';
import { act, createWorld, DAY, emit, type World } from '../../stripe-local/world';
import { keysOfDelivery, toRow } from '../../sync/inbox/handle-event';

/**
 * Returns the local Stripe account of a database: the saved account, or a new one with the objects that the database
 * refers to.
 *
 * @param options `fresh`: true if the database was just seeded. The saved account then belongs to an earlier database.
 */
export async function prepareWorld(
  db: Database,
  env: Env,
  options: { now(): Date; randomBytes(size: number): Buffer; fresh: boolean },
): Promise<World> {
  const { now } = options;
  const { timeZone } = env;
  const saved = options.fresh ? null : await loadWorld(worldFile(env), { now, timeZone });
  if (saved) return saved;
  const chance = seededChance(options.randomBytes(4).readUInt32BE());
  const world = createWorld({ now, chance, timeZone });
  await fillFromDatabase(world, db, { timeZone });
  if (options.fresh) await storeDeliveries(db, world);
  await saveWorld(world, worldFile(env));
  return world;
}

/** Serves a local Stripe account over HTTP, and sends its events to the demo's webhook. */
export async function serveWorld(world: World, env: Env): Promise<StripeLocal> {
  const [secret = ''] = env.stripe.webhookSecrets;
  return startStripeLocal({
    world,
    secretKey: env.stripe.secretKey ?? '',
    webhook: { url: `${localUrl(env)}/api/stripe/webhook`, secret },
    file: worldFile(env),
    log: (message) => console.error(message),
  });
}

/** Returns the path of the saved account. Each database has its own file, because DATABASE_URL may change. */
function worldFile({ dataDir, databaseUrl }: Env): string {
  const which = databaseUrl ? `-${createHash('sha256').update(databaseUrl).digest('hex').slice(0, 8)}` : '';
  return join(dataDir, `stripe-local${which}.json`);
}
const COUNT = 36;

/**
 * Stores recent webhook deliveries, with the bodies that Stripe would have sent. Almost all of them succeeded. Two
 * failed: one succeeds when it is replayed, and one contains an amount that is too large to store.
 */
export async function storeDeliveries(db: Database, world: World): Promise<void> {
  const now = world.now();
  const paid = [...world.invoices.values()]
    .filter(({ status, amountPaid }) => status === 'paid' && amountPaid > 0)
    .slice(-COUNT);
  const processed = paid.map((invoice, i) => {
    const created = toEpoch(now) - Math.round((i + 1) * (6.5 / COUNT) * DAY);
    return {
      ...rowOf(eventOf(world, invoice, created)),
      outcome: 'processed' as const,
      processed_at: fromEpoch(created + 2),
    };
  });
  await db
    .insert(stripeEvents)
    .values([...processed, missedPayment(world), ...unstorable(world, paid)])
    .onConflictDoNothing();
}

/** Makes an event about a payment that was not recorded, as if the database had timed out. */
function missedPayment(world: World) {
  const { events } = act(world, () =>
    triggerEvent('invoice.paid', { world, customer: null, invoiceNumber: null }),
  );
  const event = events.find(({ type }) => type === 'invoice.paid');
  if (!event) throw new Error('paying an invoice announces that it is paid');
  return { ...rowOf(event), outcome: 'failed' as const, error_code: 'TimeoutError', attempts: 3 };
}

/** Makes an event that can never be applied. Reconciliation does not retry such an event. */
function unstorable(world: World, [invoice]: Invoice[]) {
  if (!invoice) return [];
  const total = 10 ** 14;
  const row = rowOf(eventOf(world, { ...invoice, total, amountPaid: total }, toEpoch(world.now()) - DAY));
  return [{ ...row, outcome: 'failed' as const, ...whyUnstorable(row.payload), attempts: 1 }];
}

function whyUnstorable(payload: string) {
  const event = fromInbox(payload);
  try {
    keysOfDelivery({ event, payload, expectedMode: null, again: false });
  } catch (error) {
    if (error instanceof Error) return { error_code: error.name, failure_reason: error.message };
  }
  throw new Error('this event can be stored');
}

function eventOf(world: World, invoice: Invoice, created: number): WorldEvent {
  return { ...emit(world, 'invoice.paid', invoice), created };
}

function rowOf(event: WorldEvent) {
  const payload = JSON.stringify(renderEvent(event));
  return toRow(fromInbox(payload), payload);
}
