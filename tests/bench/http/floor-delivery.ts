import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ISql, Sql } from 'postgres';

const secret = process.env.STRIPE_WEBHOOK_SECRET ?? '';

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

export function isSigned(payload: string, header: string): boolean {
  const [, time = '', signature = ''] = /^t=(\d+),v1=(\w{64})$/.exec(header) ?? [];
  const expected = createHmac('sha256', secret).update(`${time}.${payload}`).digest();
  return signature !== '' && timingSafeEqual(Buffer.from(signature, 'hex'), expected);
}

/** Writes the rows that the product does, in one transaction; it decides nothing and looks nothing up twice. */
export async function takeDelivery(sql: Sql, payload: string): Promise<void> {
  const event: Event = JSON.parse(payload);
  const { object } = event.data;
  await sql.begin(async (tx) => {
    // Sent before what follows, without waiting for it.
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

/** Events of one invoice come in any order: the first makes it, and the customer nobody knows yet. */
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
