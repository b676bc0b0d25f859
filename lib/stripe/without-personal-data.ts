import { asObject, type Json } from './read';

/**
 * The fields of events that are read and hold no personal data. Every other field is left out, so that a field that
 * Stripe adds later is not kept by mistake.
 */
const FIELDS = new Set(
  `id object type api_version livemode account created data previous_attributes
  customer metadata status mode subscription parent subscription_details
  items has_more quantity price plan recurring interval interval_count usage_type billing_scheme tiers_mode
  transform_quantity transform_usage divide_by round tax_behavior unit_amount unit_amount_decimal amount amount_decimal
  tax_rates default_tax_rates inclusive currency current_period_end
  cancel_at cancel_at_period_end canceled_at ended_at pause_collection behavior resumes_at
  number status_transitions finalized_at paid_at effective_at date due_date paid closed forgiven attempted
  paid_out_of_band subtotal tax total total_excluding_tax total_taxes total_tax_amounts
  amount_paid amount_due amount_remaining amount_paid_off_stripe amount_overpaid
  pre_payment_credit_notes_amount post_payment_credit_notes_amount starting_balance ending_balance
  from_invoice action invoice payments payment payment_intent charge last_payment_error payment_status client_reference_id`.split(
    /\s+/,
  ),
);

/** What our own integration writes into metadata. */
const METADATA = ['customer_number', 'customer_service_id', 'service_number', 'subscription_id'];

/** An event's body without anything personal, and with all that applying it reads but that. Pure. */
export function withoutPersonalData(payload: string): string {
  return JSON.stringify(reduce(JSON.parse(payload)));
}

function reduce(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reduce);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => FIELDS.has(name));
  return Object.fromEntries(kept.map(([name, entry]) => [name, reduceField(name, entry)]));
}

function reduceField(name: string, value: unknown): unknown {
  if (name === 'metadata') return reduceMetadata(asObject(value));
  // It stands in the address of a payment link, where a payer may write anything.
  if (name === 'client_reference_id') return /^\d+$/.test(String(value)) ? value : null;
  return reduce(value);
}

function reduceMetadata(metadata: Json): Json {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => METADATA.includes(name)));
}
