import assert from 'node:assert/strict';
import type { Agent } from 'node:http';
import { and, eq, isNull, like, notInArray, sql } from 'drizzle-orm';
import Stripe from 'stripe';
import { type Database, rows } from '@/db/database';
import { auditLog, invoices, payments } from '@/db/schema';
import { seededChance } from '@/lib/chance';
import { createWorld } from '@/lib/stripe-local/world';
import * as act from '../support/stripe-actions';
import { renderEvent } from '../support/stripe-versions';
import { send, type Target } from './measure';

/** A server with the routes of the payments API. */
export interface Door {
  name: string;
  /** The URL of the list of payments. */
  url: string;
  cpuMs(): number;
}

export interface PaymentOperation {
  name: string;
  /** The same request to each server. */
  targets: Target[];
}

export type Invoice = Pick<typeof invoices.$inferSelect, 'id' | 'customer_id' | 'currency'>;

/**
 * Returns the requests to measure. Each write uses the next payable invoice, so that writes rarely wait for row locks.
 */
export async function paymentOperations(
  db: Database,
  doors: Door[],
  token: string,
): Promise<PaymentOperation[]> {
  const open = await openInvoices(db);
  const known = ({ id }: Invoice) => `BENCH-KNOWN-${id}`;
  await db.insert(payments).values(
    open.map((invoice) => ({
      ...paymentFor(invoice, known(invoice), 1),
      amount: '1',
      source: 'api' as const,
      currency: invoice.currency,
    })),
  );
  let sent = 0;
  const each = (reference: (invoice: Invoice) => string) => () => {
    sent += 1;
    const invoice = open[sent % open.length] as Invoice;
    return JSON.stringify(paymentFor(invoice, reference(invoice), sent));
  };
  const [last] = await db.select({ id: payments.id }).from(payments).limit(1);
  const headers = { Authorization: `Bearer ${token}` };
  const get = (path: string) =>
    doors.map(({ name, url }): Target => ({ name, method: 'GET', url: new URL(url + path), headers }));
  const toAll = (reference: (invoice: Invoice) => string) =>
    doors.map((door) => post(door, token, each(reference)));
  return [
    { name: 'GET one', targets: get(`/${last?.id}`) },
    { name: 'GET 25', targets: get('?per_page=25') },
    { name: 'POST a new reference', targets: toAll(() => `BENCH-NEW-${sent}`) },
    { name: 'POST a known reference', targets: toAll(known) },
  ];
}

/**
 * Returns two operations with one function per server. The first changes a payment. The second creates and deletes one.
 */
export async function otherWrites(
  db: Database,
  doors: Door[],
  token: string,
): Promise<{ name: string; ask: ((agent: Agent) => Promise<unknown>)[] }[]> {
  const open = await openInvoices(db);
  const known = await db
    .select({ id: payments.id })
    .from(payments)
    .where(like(payments.payment_reference, 'BENCH-KNOWN-%'));
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  let sent = 0;
  const change = ({ name, url }: Door) => {
    return (agent: Agent) => {
      sent += 1;
      const body = JSON.stringify({ amount: 1 + (sent % 499) });
      const path = `${url}/${known[sent % known.length]?.id}`;
      return send({ name, method: 'PATCH', url: new URL(path), headers, body }, agent);
    };
  };
  const createAndDelete = (door: Door) => async (agent: Agent) => {
    sent += 1;
    const invoice = open[sent % open.length] as Invoice;
    const body = () => JSON.stringify(paymentFor(invoice, `BENCH-GONE-${sent}`, 2));
    const { id } = JSON.parse((await send(post(door, token, body), agent)).body);
    const { name, url } = door;
    await send({ name, method: 'DELETE', url: new URL(`${url}/${id}`), headers }, agent);
  };
  return [
    { name: 'PATCH', ask: doors.map(change) },
    { name: 'POST a new reference, DELETE', ask: doors.map(createAndDelete) },
  ];
}

/**
 * Returns up to 2000 payable invoices that Stripe does not manage. Recording a payment locks its invoice's row, so
 * concurrent writes need different invoices.
 */
export function openInvoices(db: Database): Promise<Invoice[]> {
  return db
    .select({ id: invoices.id, customer_id: invoices.customer_id, currency: invoices.currency })
    .from(invoices)
    .where(and(isNull(invoices.stripe_invoice_id), notInArray(invoices.status, ['draft', 'cancelled'])))
    .orderBy(invoices.id)
    .limit(2000);
}

export function paymentFor({ id, customer_id }: Invoice, payment_reference: string, amount: number) {
  const paid = { payment_date: '2026-11-21', status: 'completed' as const };
  return { invoice_id: id, customer_id, amount, payment_reference, ...paid };
}

function post({ name, url }: Door, token: string, body: () => string): Target {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  return { name, method: 'POST', url: new URL(url), headers, body };
}

/** Compares the answers to reading requests. @throws Error if two servers answer a request with different JSON */
export async function requireSameReads(operations: PaymentOperation[]): Promise<void> {
  for (const { targets } of operations.filter(({ targets: [first] }) => first?.method === 'GET')) {
    requireEqual(await Promise.all(targets.map(answerOf)));
  }
}

const REFERENCE = 'BENCH-SAME';

/**
 * Compares writes on the servers.
 *
 * @throws Error if recording and then changing a payment leads to different answers or rows
 */
export async function requireSameWrites(db: Database, doors: Door[], token: string): Promise<void> {
  const [invoice] = await openInvoices(db);
  assert(invoice, 'no invoice takes a payment');
  const outcomes: unknown[] = [];
  for (const door of doors) {
    await db.delete(payments).where(eq(payments.payment_reference, REFERENCE));
    await db
      .update(invoices)
      .set({ status: 'sent', amount_paid: '0', amount_due: invoices.total, paid_at: null })
      .where(eq(invoices.id, invoice.id));
    const record = (amount: number) =>
      answerOf(post(door, token, () => JSON.stringify(paymentFor(invoice, REFERENCE, amount))));
    const answers = [await record(3), await record(1_000_000)];
    outcomes.push(maskValues({ answers, ...(await rowsOf(db, invoice.id)) }));
  }
  requireEqual(outcomes);
}

async function answerOf(target: Target) {
  const { status, body } = await send(target);
  return { status, body: JSON.parse(body) };
}

async function rowsOf(db: Database, invoiceId: number) {
  const [payment] = await db.select().from(payments).where(eq(payments.payment_reference, REFERENCE));
  assert(payment, 'no payment was left');
  const ofPayment = and(eq(auditLog.entity, 'payment'), eq(auditLog.entity_id, payment.id));
  return {
    payment,
    invoice: await db.select().from(invoices).where(eq(invoices.id, invoiceId)),
    audit: await db.select().from(auditLog).where(ofPayment).orderBy(auditLog.id),
  };
}

const VARYING = ['id', 'entity_id', 'created_at', 'updated_at', 'paid_at', 'version'];

/** Replaces the digits of values that differ with each write. */
function maskValues(outcome: unknown): unknown {
  const mask = (value: unknown) => JSON.stringify(value).replace(/\d+/g, '0');
  return JSON.parse(JSON.stringify(outcome, (key, value) => (VARYING.includes(key) ? mask(value) : value)));
}

function requireEqual(outcomes: unknown[]): void {
  for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
}

/** Returns a request to the MCP server with a protocol version of 2025. */
export function toolCall(url: string, token: string, name: string, args: object): Target {
  const headers = {
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2025-11-25',
  };
  const params = { name, arguments: args };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return { name: 'tool', method: 'POST', url: new URL('/mcp', url), headers, body };
}

export const SECRET = 'whsec_bench';

/** Returns a signed webhook delivery like those of Stripe. */
export function signedDelivery(url: string, payload: string): Target {
  const timestamp = Math.floor(Date.now() / 1000);
  const header = Stripe.webhooks.generateTestHeaderString({ payload, secret: SECRET, timestamp });
  return {
    name: 'webhook',
    method: 'POST',
    url: new URL(`${url}/api/stripe/webhook`),
    headers: { 'Content-Type': 'application/json', 'Stripe-Signature': header },
    body: payload,
  };
}

/** Links each Stripe item without a service to a new one, so that an event also changes the service's billing date. */
export async function linkServices(db: Database): Promise<void> {
  await db.execute(sql`
    insert into customer_services (service_number, customer_id, service_type, status, name, price)
    select 'BENCH-' || i.id, s.customer_id, 'hosting', 'active', 'Bench', 19
    from subscription_items i join subscriptions s on s.id = i.subscription_id
    where i.customer_service_id is null and i.stripe_subscription_item_id is not null`);
  await db.execute(sql`
    update subscription_items i set customer_service_id = c.id from customer_services c
    where c.service_number = 'BENCH-' || i.id and i.customer_service_id is null`);
  await db.execute(sql`analyze`);
}

/** Checks the webhook events whose body is stored. @throws Error if one is neither processed nor stale */
export async function requireAllProcessed(db: Database): Promise<void> {
  const wrong = await rows(
    db,
    sql`select outcome, count(*) from stripe_events
      where outcome not in ('processed', 'stale') and payload <> '' group by 1`,
  );
  if (wrong.length > 0) throw new Error(`not all were processed: ${JSON.stringify(wrong)}`);
}

const EVENT_ID = 'evt_BENCH';
const CREATED = 1_700_000_007;
const PERIOD_END = 1_700_000_011;
/** Number of days. Period ends stay before 2038, because the sync engine cannot store later times. */
const TEN_YEARS = 3650;

/** An endless source of events. Each event is one second newer than the previous event. */
export interface EventSource {
  /** The events that create the subscriptions. Process these before the events of `next`. */
  created: string[];
  next(): string;
}

/**
 * Returns a source of events that update the subscriptions in turn. Each event has a new period end.
 *
 * @param name part of all ids, so that no two sources share an id
 */
export function subscriptionEvents(name: string, subscriptions: number): EventSource {
  let second = 1_700_000_000;
  const world = createWorld({ now: () => new Date(second * 1000), chance: seededChance(name.length) });
  const render = (event: Parameters<typeof renderEvent>[0]) =>
    JSON.stringify(renderEvent(event, Stripe.API_VERSION)).replaceAll(/\b(sub|cus|si)_/g, `$1_${name}`);
  const created: string[] = [];
  const templates: string[] = [];
  for (let i = 0; i < subscriptions; i += 1) {
    second = 1_700_000_000;
    const { object: customer } = act.createCustomer(world, { email: `${name}-${i}@example.com` });
    const items = [{ unitAmount: 1900, interval: 'month' as const }];
    const made = act.createSubscription(world, { customer: customer.id, items });
    created.push(...made.events.map(render));
    second = CREATED;
    const { events } = act.updateSubscription(world, made.object.id, { currentPeriodEnd: PERIOD_END });
    templates.push(
      ...events.map((event) => render(event).replaceAll(`"${event.id}"`, `"${EVENT_ID}${name}"`)),
    );
  }
  let sent = 0;
  return {
    created,
    next: () => {
      sent += 1;
      return (templates[sent % templates.length] as string)
        .replace(`"${EVENT_ID}${name}"`, `"evt_${name}${sent}"`)
        .replaceAll(String(CREATED), String(CREATED + sent))
        .replaceAll(String(PERIOD_END), String(PERIOD_END + 86_400 * (sent % TEN_YEARS)));
    },
  };
}

const PAID_TYPES = ['invoice.finalized', 'invoice.paid', 'invoice.payment_succeeded'];

/**
 * Returns a source that repeats four events: three for a new customer's paid invoice, then an update of a subscription.
 */
export function mixedEvents(name: string): EventSource {
  const subscriptions = subscriptionEvents(`${name}sub`, 200);
  const templates = paidInvoice(name);
  let sent = 0;
  return {
    created: subscriptions.created,
    next: () => {
      sent += 1;
      const template = templates[(sent - 1) % (templates.length + 1)];
      if (template === undefined) return subscriptions.next();
      return template
        .replace(`"${EVENT_ID}${name}"`, `"evt_${name}${sent}"`)
        .replaceAll(String(CREATED), String(CREATED + sent))
        .replaceAll('NTH', String(Math.ceil(sent / (templates.length + 1))));
    },
  };
}

/** Returns templates for the three events of a paid invoice. The placeholder `NTH` makes its ids unique. */
function paidInvoice(name: string): string[] {
  const world = createWorld({ now: () => new Date(CREATED * 1000), chance: seededChance(name.length) });
  const { object: customer } = act.createCustomer(world, { email: `${name}-NTH@example.com` });
  const { object: invoice } = act.createInvoice(world, { customer: customer.id, lines: [{ amount: 1900 }] });
  const finalized = act.finalizeInvoice(world, invoice.id, { number: `${name}-NTH` });
  const events = [...finalized.events, ...act.payInvoice(world, invoice.id).events];
  return PAID_TYPES.map((type) => {
    const event = events.find((one) => one.type === type);
    if (!event) throw new Error(`no ${type}`);
    return JSON.stringify(renderEvent(event, Stripe.API_VERSION))
      .replaceAll(`"${event.id}"`, `"${EVENT_ID}${name}"`)
      .replaceAll(/\b(cus|in|il|pi|ch|inpay)_(?=\w)/g, `$1_${name}NTH`);
  });
}
