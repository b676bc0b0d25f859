import { sql } from 'drizzle-orm';
import { pgEnum } from 'drizzle-orm/pg-core';

/** Every closed set of values lives here once; zod schemas take `.enumValues`. */
export const customerStatus = pgEnum('customer_status', ['active', 'inactive', 'blocked']);
export const stripeLinkedBy = pgEnum('stripe_linked_by', ['staff', 'number', 'email', 'created']);
/** Whose metadata names a customer number, from the strongest on: other is an invoice or a checkout. */
export const numberSource = pgEnum('stripe_number_source', ['customer', 'subscription', 'other']);
export const serverStatus = pgEnum('server_status', ['active', 'maintenance', 'offline', 'decommissioned']);
export const serviceStatus = pgEnum('service_status', [
  'draft',
  'order',
  'active',
  'suspended',
  'cancelled',
  'terminated',
]);
export const serviceType = pgEnum('service_type', [
  'hosting',
  'domain',
  'service',
  'server',
  'license',
  'other',
]);
export const billingInterval = pgEnum('billing_interval', [
  'month',
  'quarter',
  'half_year',
  'year',
  'two_years',
  'three_years',
  'once',
]);
export const subscriptionStatus = pgEnum('subscription_status', [
  'incomplete',
  'trialing',
  'active',
  'past_due',
  'unpaid',
  'paused',
  'cancelled',
]);
export const invoiceStatus = pgEnum('invoice_status', ['draft', 'sent', 'paid', 'overdue', 'cancelled']);
export const salesDocumentType = pgEnum('sales_document_type', ['offer', 'order_confirmation']);
export const salesDocumentStatus = pgEnum('sales_document_status', [
  'draft',
  'sent',
  'accepted',
  'rejected',
  'expired',
  'converted',
]);
export const paymentStatus = pgEnum('payment_status', ['pending', 'completed', 'failed', 'refunded']);
export const refundStatus = pgEnum('refund_status', ['pending', 'succeeded', 'failed', 'cancelled']);
export const refundSource = pgEnum('refund_source', ['stripe', 'staff', 'api']);
/** Disputes that go no further. */
export const DECIDED_DISPUTES = ['won', 'lost', 'warning_closed', 'prevented'] as const;
/** The same as literals, so that the partial index over the others is used. */
export const decidedDisputes = sql.raw(`('${DECIDED_DISPUTES.join("', '")}')`);
/** Stripe's own; `warning_…` is an inquiry, which withdraws nothing. */
export const disputeStatus = pgEnum('dispute_status', [
  'warning_needs_response',
  'warning_under_review',
  'warning_closed',
  'needs_response',
  'under_review',
  'won',
  'lost',
  'prevented',
]);
export const paymentSource = pgEnum('payment_source', ['api', 'staff', 'stripe', 'import']);
export const eventOutcome = pgEnum('event_outcome', ['processed', 'stale', 'ignored', 'unmatched', 'failed']);
export const runStatus = pgEnum('run_status', ['running', 'completed', 'completed_with_errors', 'failed']);
export const runTrigger = pgEnum('run_trigger', ['cron', 'schedule', 'staff', 'cli']);
export const runPhase = pgEnum('run_phase', [
  'inbox',
  'subscriptions',
  'invoices',
  'rechecks',
  'payments',
  'money_back',
  'overdue',
  'done',
]);
export const changeOutcome = pgEnum('change_outcome', ['fixed', 'reported', 'failed']);
export const actorType = pgEnum('actor_type', ['token', 'staff', 'cli']);
/**
 * What a token may do; `mcp:read` is the three scopes of reading together. `without_personal_data` is no longer given:
 * tokens that have it hide personal data.
 */
export const accessScope = pgEnum('access_scope', [
  'mcp:read',
  'payments:read',
  'payments:write',
  'customers:read',
  'billing:read',
  'servers:read',
  'without_personal_data',
]);
export const staffRole = pgEnum('staff_role', ['staff', 'admin']);
export const toolCallOutcome = pgEnum('tool_call_outcome', [
  'ok',
  'not_found',
  'validation_failed',
  'refused',
  'error',
]);
