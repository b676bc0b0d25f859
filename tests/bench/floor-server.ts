import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import postgres, { type ISql } from 'postgres';
import { openEngine } from './engine';
import { type Input, type Row as Payment, readPayment, readToken, toJson as toPayment } from './same-sql';

// The benches compare the product with this minimal server, called the floor, which uses only node:http and the driver.
// It reads lists and the answers of tools with the statements that the product sent. It writes a payment with one
// statement and without checks. With BENCH_ENGINE it passes each delivery to Supabase's sync engine instead, after
// checking the signature.

/** A statement as the product sent it to the database. */
interface Statement {
  text: string;
  values: (string | number)[];
}

/**
 * The statements of each reading operation, keyed by its name in the bench. The list of payments has the key
 * `payments`.
 */
export type Recorded = Record<string, Statement[]>;

const asText = { serialize: String, parse: String };
const sql = postgres(process.env.DATABASE_URL ?? '', {
  max: 10,
  connection: { plan_cache_mode: 'force_generic_plan', jit: false },
  types: { date: { to: 1082, from: [1082], ...asText }, numeric: { to: 1700, from: [1700], ...asText } },
});
const recorded: Recorded = JSON.parse(process.env.BENCH_STATEMENTS ?? '{}');
const secret = process.env.STRIPE_WEBHOOK_SECRET ?? '';
const CUSTOMER = 'get-customer';
const AMOUNTS = ['subtotal', 'tax', 'total', 'amount_paid', 'amount_due', 'price'];
const MAX_MATCHES = 25;

const engine = process.env.BENCH_ENGINE ? await openEngine(process.env.DATABASE_URL ?? '') : null;
process.once('SIGTERM', async () => {
  await engine?.close();
  process.exit();
});

createServer((request, response) => {
  answer(request)
    .catch((error: Error) => [500, { message: error.message }] as const)
    .then(([status, body]) => {
      if (body === undefined) return response.writeHead(status).end();
      const json = JSON.stringify(body);
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(json) };
      return response.writeHead(status, headers).end(json);
    });
}).listen(process.env.PORT);

async function answer(request: IncomingMessage): Promise<readonly [number, unknown]> {
  const { method, url = '', headers } = request;
  if (url === '/api/health') return [200, {}];
  if (url === '/api/stripe/webhook') {
    const payload = await text(request);
    if (!isSigned(payload, String(headers['stripe-signature']))) return [400, {}];
    if (engine) await engine.take(payload);
    else await takeDelivery(payload);
    return [200, { received: true, outcome: 'processed' }];
  }
  const scope = url === '/mcp' ? 'mcp:read' : method === 'GET' ? 'payments:read' : 'payments:write';
  const token = await readToken(sql, headers.authorization ?? null, scope);
  if (!token) return [401, {}];
  if (url === '/mcp') return [200, await callTool(JSON.parse(await text(request)))];
  if (method === 'POST') return [201, await upsert(JSON.parse(await text(request)))];
  const id = /^\/api\/w5t\/payments\/(\d+)$/.exec(url)?.[1];
  if (method === 'PATCH') return [200, await update(Number(id), JSON.parse(await text(request)))];
  if (method === 'DELETE') {
    await sql`delete from payments where id = ${Number(id)}`;
    return [204, undefined];
  }
  if (id) return [200, await readPayment(sql, Number(id))];
  return [200, await listPayments(recorded.payments)];
}

async function upsert({ invoice_id, customer_id, amount, payment_date, payment_reference, status }: Input) {
  const [row] = await sql<[Payment]>`
    insert into payments (invoice_id, customer_id, amount, payment_date, payment_reference, status, source)
    values (${invoice_id}, ${customer_id}, ${amount}, ${payment_date}, ${payment_reference}, ${status}, 'api')
    on conflict (payment_reference) do update set invoice_id = excluded.invoice_id,
      customer_id = excluded.customer_id, amount = excluded.amount, payment_date = excluded.payment_date,
      status = excluded.status, updated_at = now(), version = payments.version + 1
    returning *`;
  return toPayment(row);
}

async function update(id: number, { amount }: Pick<Input, 'amount'>) {
  const [row] = await sql<[Payment]>`
    update payments set amount = ${amount}, updated_at = now(), version = version + 1 where id = ${id} returning *`;
  return toPayment(row);
}

interface Subscription {
  object: 'subscription';
  id: string;
  customer: string;
  items: { data: { id: string; current_period_end: number }[] };
}

interface Invoice {
  object: 'invoice';
  id: string;
  number: string | null;
  customer: string;
  customer_email: string | null;
  status: string;
  created: number;
  currency: string;
  subtotal: number;
  total: number;
  amount_paid: number;
}

interface Event {
  id: string;
  type: string;
  api_version: string;
  created: number;
  data: { object: Subscription | Invoice };
}

function isSigned(payload: string, header: string): boolean {
  const [, time = '', signature = ''] = /^t=(\d+),v1=(\w{64})$/.exec(header) ?? [];
  const expected = createHmac('sha256', secret).update(`${time}.${payload}`).digest();
  return signature !== '' && timingSafeEqual(Buffer.from(signature, 'hex'), expected);
}

/**
 * Writes the rows of a webhook delivery in one transaction. Unlike the product, it does not decide whether to apply the
 * event.
 */
async function takeDelivery(payload: string): Promise<void> {
  const event: Event = JSON.parse(payload);
  const { object } = event.data;
  await sql.begin(async (tx) => {
    // Send these statements now, but await them only once all statements are sent.
    const first = [
      tx`select pg_advisory_xact_lock(hashtextextended(${object.customer}, 0))`,
      tx`insert into stripe_events (id, type, api_version, livemode, stripe_created, object_id, stripe_customer_id,
          payload, outcome, processed_at)
        values (${event.id}, ${event.type}, ${event.api_version}, false, ${at(event.created)}, ${object.id},
          ${object.customer}, ${payload}, 'processed', now())`,
    ].map((query) => query.execute());
    const rest =
      object.object === 'subscription'
        ? moveSubscription(tx, object, at(event.created))
        : writeInvoice(tx, object, at(event.created));
    await Promise.all([...first, rest]);
  });
}

function moveSubscription(tx: ISql, { id, customer, items }: Subscription, now: Date) {
  const [item] = items.data;
  const end = at(item?.current_period_end ?? 0);
  const day = dayOf(end);
  return Promise.all([
    tx`update stripe_customers set version = version + 1 where stripe_customer_id = ${customer}`,
    tx`update customer_services s set next_billing_date = ${day}, synced_billing_date = ${day}, updated_at = now(),
        version = s.version + 1
      from subscription_items i
      where i.stripe_subscription_item_id = ${item?.id ?? ''} and s.id = i.customer_service_id`,
    tx`update subscription_items set current_period_end = ${end}, updated_at = now(), version = version + 1
      where stripe_subscription_item_id = ${item?.id ?? ''}`,
    tx`update subscriptions set next_billing_date = ${day}, stripe_synced_at = now(), provider_as_of = ${now},
        updated_at = now(), version = version + 1
      where stripe_subscription_id = ${id}`,
  ]);
}

/** Updates an invoice and records its payment. Inserts the invoice and its customer first if the invoice is unknown. */
async function writeInvoice(tx: ISql, invoice: Invoice, now: Date): Promise<void> {
  const paid = invoice.amount_paid / 100;
  const [known] = await tx<{ id: number; customer_id: number }[]>`
    update invoices set status = ${statusOf(invoice)}, amount_paid = ${paid},
      amount_due = total - ${paid}::numeric, paid_at = ${paid > 0 ? now : null}, stripe_synced_at = now(),
      provider_as_of = ${now}, updated_at = now(), version = version + 1
    where stripe_invoice_id = ${invoice.id} returning id, customer_id`;
  const { id, customer_id } = known ?? (await insertInvoice(tx, invoice, now));
  if (paid === 0) return;
  const [payment] = await tx<{ id: number }[]>`
    insert into payments (invoice_id, customer_id, amount, currency, payment_date, payment_reference, status, source,
      provider_amount, provider_payment_date)
    values (${id}, ${customer_id}, ${paid}, ${invoice.currency}, ${dayOf(now)}, ${`floor ${invoice.id}`}, 'completed',
      'stripe', ${paid}, ${dayOf(now)})
    on conflict (payment_reference) do nothing returning *`;
  if (!payment) return;
  await tx`
    insert into audit_log (actor_type, actor_id, actor_name, action, entity, entity_id, after)
    values ('cli', 'floor', 'floor', 'payment.create', 'payment', ${payment.id},
      ${JSON.stringify(payment)}::text::jsonb)`;
}

async function insertInvoice(tx: ISql, invoice: Invoice, now: Date) {
  const total = invoice.total / 100;
  const paid = invoice.amount_paid / 100;
  const [made] = await tx<{ id: number }[]>`
    select id, insert_created_customer(jsonb_build_object('id', id, 'email', ${invoice.customer_email}::text), null)
    from (select nextval(pg_get_serial_sequence('customers', 'id'))::int as id) made`;
  const customer_id = made?.id ?? 0;
  const [[written]] = await Promise.all([
    tx<{ id: number }[]>`
      insert into invoices (number, customer_id, status, invoice_date, currency, subtotal, tax, total, amount_paid,
        amount_due, paid_at, stripe_invoice_id, stripe_customer_id, stripe_synced_at, provider_as_of)
      values (${invoice.number}, ${customer_id}, ${statusOf(invoice)}, ${dayOf(at(invoice.created))},
        ${invoice.currency}, ${invoice.subtotal / 100}, 0, ${total}, ${paid}, ${total - paid},
        ${paid > 0 ? now : null}, ${invoice.id}, ${invoice.customer}, now(), ${now})
      returning id`,
    tx`insert into stripe_customers (stripe_customer_id, customer_id, linked_by)
      values (${invoice.customer}, ${customer_id}, 'created')`,
  ]);
  if (!written) throw new Error('nothing was written');
  return { id: written.id, customer_id };
}

const statusOf = ({ status }: Invoice) => (status === 'paid' ? 'paid' : 'sent');
const at = (seconds: number) => new Date(seconds * 1000);
const dayOf = (instant: Date) => instant.toISOString().slice(0, 10);

type Row = Record<string, unknown>;

async function listPayments(statements: Statement[] = []) {
  const [found = []] = await runAll(statements);
  return { ...pageOf(found), data: found.map((row) => toPayment(row as unknown as Payment)) };
}

/** Answers a tool call with the recorded statements. Ignores the arguments of the call. */
async function callTool({ id, params: { name } }: { id: number; params: { name: string } }) {
  const content = toContent(name, await runAll(recorded[name], name === CUSTOMER));
  const result = { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content };
  return { result, jsonrpc: '2.0', id };
}

/** Returns the same rows as the product's answer, in a similar shape. */
function toContent(tool: string, answers: Row[][]): Row {
  const [first = [], ...others] = answers;
  if (tool === CUSTOMER) return { ...first[0], details: others.map((found) => found.map(toRow)) };
  if (tool.startsWith('list-invoices')) return { ...pageOf(first), data: first.map(toRow) };
  const known = new Map(answers.flat().map((row) => [row.id, row]));
  known.delete(null);
  const matches = [...known.values()].slice(0, MAX_MATCHES).map(toCustomer);
  return { count: matches.length, truncated: known.size > MAX_MATCHES, matches };
}

/** Runs statements one after the other. If `isAtOnce` is true, runs all statements after the first at the same time. */
async function runAll([first, ...rest]: Statement[] = [], isAtOnce = false): Promise<Row[][]> {
  const answers = first ? [await run(first)] : [];
  if (isAtOnce) return [...answers, ...(await Promise.all(rest.map(run)))];
  for (const statement of rest) answers.push(await run(statement));
  return answers;
}

/** Returns the rows of a statement. The columns from the second `id` on become the property `customer`. */
async function run({ text, values }: Statement): Promise<Row[]> {
  const found = await sql.unsafe<Row[]>(text, values, { prepare: true }).values();
  const names = found.columns.map(({ name }) => name);
  const second = names.indexOf('id', names.indexOf('id') + 1);
  const joined = second > 0 ? second : names.length;
  return [...found].map((row) => {
    const read = (from: number, to: number) =>
      Object.fromEntries(names.slice(from, to).map((name, i) => [name, row[from + i]]));
    const own: Row = read(0, joined);
    if (second > 0) own.customer = read(joined, names.length);
    return own;
  });
}

/** Returns the paging fields. The last column of each row contains the total. */
function pageOf([row = {}]: Row[]) {
  const total = Number(Object.values((row.customer as Row | undefined) ?? row).at(-1) ?? 0);
  return { page: 1, per_page: 25, total, last_page: Math.max(1, Math.ceil(total / 25)) };
}

function toRow(row: Row): Row {
  const amounts = AMOUNTS.filter((name) => name in row).map((name) => [name, Number(row[name])]);
  const customer = row.customer as Row | undefined;
  return { ...row, ...Object.fromEntries(amounts), ...(customer && { customer: toCustomer(customer) }) };
}

function toCustomer({ id, customer_number, first_name, last_name, company, email, status }: Row): Row {
  const name = company || [first_name, last_name].filter(Boolean).join(' ');
  return { id, customer_number, name, email, status };
}
