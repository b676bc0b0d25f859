import type { Tables } from '../tables';
import type { Model } from './model';

const epoch = (at: Date | null) => (at === null ? null : at.getTime() / 1000);
const byId = <T extends { id: number | string }>(rows: Iterable<T>) =>
  [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));

/** The model's tables as the oracle reads them. */
export function toTables({ tables: { rows }, failures }: Model): Tables {
  return {
    customers: byId(rows.customers.values()),
    links: [...rows.links.values()].sort((a, b) => (a.stripe_customer_id < b.stripe_customer_id ? -1 : 1)),
    services: byId(rows.services.values()),
    subscriptions: byId(rows.subscriptions.values()).map((row) => ({
      ...row,
      cancel_at: epoch(row.cancel_at),
      pause_resumes_at: epoch(row.pause_resumes_at),
      ended_at: epoch(row.ended_at),
      gone: row.provider_gone_at !== null,
    })),
    items: [...rows.items.values()]
      .sort((a, b) => compareLast(a.stripe_subscription_item_id, b.stripe_subscription_item_id))
      .map((row) => ({
        subscription_id: row.subscription_id,
        customer_service_id: row.customer_service_id,
        stripe_subscription_item_id: row.stripe_subscription_item_id,
        quantity: row.quantity,
        amount: row.amount,
        currency: row.currency,
        interval: row.interval,
        interval_count: row.interval_count,
        current_period_end: epoch(row.current_period_end),
      })),
    invoices: byId(rows.invoices.values()).map((row) => ({
      ...row,
      stripe_invoice_id: row.stripe_invoice_id ?? '',
      stripe_customer_id: row.stripe_customer_id ?? '',
      paid_at: epoch(row.paid_at),
      payment_failed_at: epoch(row.payment_failed_at),
      gone: row.provider_gone_at !== null,
    })),
    payments: byId(rows.payments.values()),
    refunds: byId(rows.refunds.values()).map((row) => ({
      ...row,
      issued_at: row.issued_at.getTime() / 1000,
    })),
    disputes: byId(rows.disputes.values()).map((row) => ({
      ...row,
      evidence_due_at: epoch(row.evidence_due_at),
      funds_withdrawn_at: epoch(row.funds_withdrawn_at),
      funds_returned_at: epoch(row.funds_returned_at),
    })),
    events: byId(rows.events.values()).map(
      ({ id, type, outcome, payload, stripe_created, processed_at, warnings }) => ({
        id,
        type,
        outcome,
        payload,
        created: stripe_created.getTime() / 1000,
        processed: processed_at !== null,
        warnings,
      }),
    ),
    failures: [...new Set(failures.filter((one) => !one.resolved).map(({ stripeId }) => stripeId))],
  };
}

function compareLast(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -1 : 1;
}
