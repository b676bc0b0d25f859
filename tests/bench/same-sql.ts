import { createHash } from 'node:crypto';
import postgres, { type ISql, type Sql } from 'postgres';

// This file does the work of the payments API with prepared SQL statements that are written by hand, without drizzle
// and zod.

interface Token {
  id: number;
  name: string;
}

export interface Input {
  invoice_id: number;
  customer_id: number;
  amount: number;
  payment_date: string;
  payment_reference: string;
  status: string;
}

export interface Row extends Omit<Input, 'amount'> {
  id: number;
  amount: string;
  refunded_amount: string;
  currency: string;
  source: string;
  transfer: string | null;
  created_at: Date;
  updated_at: Date;
}

let opened: Sql | undefined;

/** Returns the pool of this process, which has as many connections as the product's pool. */
export function openSql(): Sql {
  opened ??= postgres(process.env.DATABASE_URL ?? '', {
    max: 10,
    connection: { plan_cache_mode: 'force_generic_plan' },
    types: { date: { to: 1082, from: [1082], serialize: String, parse: String } },
  });
  return opened;
}

/** Returns the token of an `Authorization` header. Returns null if it is not valid or lacks the scope. */
export async function readToken(sql: Sql, header: string | null, scope: string): Promise<Token | null> {
  const hash = createHash('sha256')
    .update(header?.slice('Bearer '.length) ?? '')
    .digest('hex');
  const [row] = await sql`
    select id, name, scopes, staff_email, expires_at, last_used_at from access_tokens
    where token_hash = ${hash} and revoked_at is null limit 1`;
  if (!row || (row.expires_at && row.expires_at <= new Date()) || !row.scopes.includes(scope)) return null;
  return { id: row.id, name: row.name };
}

export async function readPayment(sql: Sql, id: number) {
  const [row] = await sql<Row[]>`select * from payments where id = ${id} limit 1`;
  return row && toJson(row);
}

export async function readPage(sql: Sql) {
  const found = await sql<(Row & { total: number })[]>`
    select *, (select count(*) from payments)::int as total from payments
    order by payment_date desc, id desc limit 25 offset 0`;
  const total = found[0]?.total ?? 0;
  return { page: 1, per_page: 25, total, last_page: Math.ceil(total / 25), data: found.map(toJson) };
}

export async function upsertPayment(sql: Sql, token: Token, input: Input) {
  const { payment_reference, invoice_id } = input;
  return sql.begin(async (tx) => {
    // The statements are sent together, and PostgreSQL runs them in this order.
    const [, invoices, [before]] = await Promise.all([
      tx`select pg_advisory_xact_lock(hashtextextended(${`payment ${payment_reference}`}, 0))`,
      tx`
        select id, customer_id, status, currency from invoices
        where id in (${invoice_id}, (select invoice_id from payments where payment_reference = ${payment_reference}))
        order by id for update`,
      tx<Row[]>`select * from payments where payment_reference = ${payment_reference} for update`,
    ]);
    const invoice = invoices.find(({ id }) => id === invoice_id);
    if (invoice?.customer_id !== input.customer_id) throw new Error('does not fit');
    const values = { ...input, currency: invoice.currency as string };
    if (!before) {
      const [created] = await tx<Row[]>`
        insert into payments ${tx({ ...values, source: 'api' })}
        on conflict (payment_reference) do nothing returning *`;
      return finish(tx, token, 'payment.create', null, created);
    }
    const [after] = await tx<Row[]>`
      update payments set ${tx(values)}, updated_at = now() where id = ${before.id} returning *`;
    return finish(tx, token, 'payment.update', before, after);
  });
}

async function finish(tx: ISql, token: Token, action: string, before: Row | null, after: Row | undefined) {
  if (!after) throw new Error('nothing was written');
  const [today] = new Date().toISOString().split('T');
  const entry = tx`
    insert into audit_log (actor_type, actor_id, actor_name, action, entity, entity_id, before, after)
    values ('token', ${String(token.id)}, ${token.name}, ${action}, 'payment', ${after.id},
      ${before && JSON.stringify(before)}::text::jsonb, ${JSON.stringify(after)}::text::jsonb)`;
  await Promise.all([entry, settle(tx, after.invoice_id, today ?? '')]);
  return { created: before === null, payment: toJson(after) };
}

async function settle(tx: ISql, invoiceId: number, today: string) {
  await tx`
    update invoices i set
      amount_paid = p.paid,
      amount_due = case when i.status = 'cancelled' then 0 else greatest(i.total - p.paid, 0) end,
      status = case
        when i.status in ('draft', 'cancelled') then i.status
        when p.paid >= i.total then 'paid'
        when i.due_date < ${today}::date then 'overdue'
        else 'sent' end::invoice_status,
      paid_at = case
        when i.status in ('draft', 'cancelled') then i.paid_at
        when p.paid >= i.total then coalesce(i.paid_at, now()) end,
      updated_at = now()
    from (
      select coalesce(sum(amount) filter (where status = 'completed'), 0) as paid
      from payments where invoice_id = ${invoiceId}
    ) p
    where i.id = ${invoiceId} and i.stripe_invoice_id is null`;
}

/** Converts a row to the JSON that the payments API returns. */
export function toJson(row: Row) {
  return {
    id: row.id,
    invoice_id: row.invoice_id,
    customer_id: row.customer_id,
    amount: Number(row.amount),
    currency: row.currency,
    payment_date: row.payment_date,
    payment_reference: row.payment_reference,
    status: row.status,
    refunded_amount: Number(row.refunded_amount),
    source: row.source,
    transfer: row.transfer,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
