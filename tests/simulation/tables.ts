import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';

/** Our tables as they are: instants in seconds since the epoch, amounts as text. */
export interface Tables {
  customers: { id: number; customer_number: string; email: string | null; street: string | null }[];
  links: { stripe_customer_id: string; customer_id: number; linked_by: string }[];
  services: { id: number; next_billing_date: string | null; ends_on: string | null }[];
  subscriptions: SubscriptionRow[];
  items: ItemRow[];
  invoices: InvoiceRow[];
  payments: PaymentRow[];
  refunds: RefundRow[];
  disputes: DisputeRow[];
  events: EventRow[];
  /** Stripe's ids of what the last runs could not bring into step. */
  failures: string[];
}

export interface EventRow {
  id: string;
  type: string;
  outcome: string;
  payload: string;
  created: number;
  processed: boolean;
  warnings: string[];
}

export interface SubscriptionRow {
  id: number;
  customer_id: number;
  status: string;
  next_billing_date: string | null;
  cancel_at_period_end: boolean;
  cancel_at: number | null;
  pause_behavior: string | null;
  pause_resumes_at: number | null;
  ended_at: number | null;
  stripe_subscription_id: string | null;
  stripe_customer_id: string | null;
  gone: boolean;
}

export interface ItemRow {
  subscription_id: number;
  customer_service_id: number | null;
  stripe_subscription_item_id: string | null;
  quantity: number;
  amount: string | null;
  currency: string | null;
  interval: string | null;
  interval_count: number | null;
  current_period_end: number | null;
}

export interface InvoiceRow {
  id: number;
  stripe_invoice_id: string;
  stripe_customer_id: string;
  customer_id: number;
  subscription_id: number | null;
  number: string | null;
  status: string;
  invoice_date: string;
  due_date: string | null;
  currency: string;
  subtotal: string;
  tax: string;
  total: string;
  amount_paid: string;
  amount_due: string;
  amount_off_stripe: string | null;
  amount_credited: string;
  paid_at: number | null;
  payment_failed_at: number | null;
  uncollectible: boolean;
  gone: boolean;
}

export interface PaymentRow {
  id: number;
  invoice_id: number;
  customer_id: number;
  amount: string;
  currency: string;
  payment_date: string;
  payment_reference: string;
  status: string;
  source: string;
  refunded_amount: string;
}

export interface RefundRow {
  id: number;
  payment_id: number | null;
  stripe_refund_id: string | null;
  amount: string;
  currency: string;
  status: string;
  source: string;
  issued_at: number;
}

export interface DisputeRow {
  id: number;
  payment_id: number | null;
  stripe_dispute_id: string;
  amount: string;
  currency: string;
  status: string;
  evidence_due_at: number | null;
  funds_withdrawn_at: number | null;
  funds_returned_at: number | null;
}

const epoch = (column: string) => `extract(epoch from ${column})::float8 as ${column}`;

const SELECTS: Record<keyof Tables, string> = {
  customers: 'select id, customer_number, email, street from customers order by id',
  links: 'select stripe_customer_id, customer_id, linked_by from stripe_customers order by 1',
  services: 'select id, next_billing_date, ends_on from customer_services order by id',
  subscriptions: `select id, customer_id, status, next_billing_date, cancel_at_period_end, ${epoch('cancel_at')},
    pause_behavior, ${epoch('pause_resumes_at')}, ${epoch('ended_at')},
    stripe_subscription_id, stripe_customer_id, provider_gone_at is not null as gone from subscriptions order by id`,
  items: `select subscription_id, customer_service_id, stripe_subscription_item_id, quantity,
    amount::text, currency, interval, interval_count,
    ${epoch('current_period_end')} from subscription_items order by stripe_subscription_item_id`,
  invoices: `select id, stripe_invoice_id, stripe_customer_id, customer_id, subscription_id, number, status,
    invoice_date, due_date, currency, subtotal::text, tax::text, total::text, amount_paid::text,
    amount_due::text, amount_off_stripe::text,
    amount_credited::text, ${epoch('paid_at')}, ${epoch('payment_failed_at')},
    uncollectible, provider_gone_at is not null as gone from invoices order by id`,
  payments: `select id, invoice_id, customer_id, amount::text, currency, payment_date, payment_reference, status, source,
    refunded_amount::text from payments order by id`,
  refunds: `select id, payment_id, stripe_refund_id, amount::text, currency, status, source, ${epoch('issued_at')}
    from refunds order by id`,
  disputes: `select id, payment_id, stripe_dispute_id, amount::text, currency, status, ${epoch('evidence_due_at')},
    ${epoch('funds_withdrawn_at')}, ${epoch('funds_returned_at')} from disputes order by id`,
  events: `select id, type, outcome, payload, extract(epoch from stripe_created)::int as created,
    processed_at is not null as processed, warnings
    from stripe_events order by id`,
  failures: '',
};

const QUERY = sql.raw(
  `select json_build_object(${Object.entries(SELECTS)
    .filter(([, select]) => select !== '')
    .map(([name, select]) => `'${name}', (select coalesce(json_agg(t), '[]') from (${select}) t)`)
    .join(
      ', ',
    )}, 'failures', (select coalesce(json_agg(distinct stripe_id), '[]') from reconciliation_failures
      where resolved_at is null))::text as tables`,
);

/** All of it in one query. */
export async function readTables(db: Database): Promise<Tables> {
  const [row] = await rows<{ tables: string }>(db, QUERY);
  return JSON.parse(row?.tables ?? '{}') as Tables;
}
