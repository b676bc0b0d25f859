import type { Invoice, InvoiceLine } from '../model';
import { embeddedList, type Json, renderAddress, type Shape } from './shape';
import { productOf } from './subscription';

/** Lines, or payments, that Stripe puts into the invoice itself; the rest has an address of its own. */
export const EMBEDDED = 10;

export function renderInvoice(invoice: Invoice, shape: Shape): Json {
  // Before basil `amount_paid` did not hold what was paid off Stripe.
  const amountPaid = shape.basil ? invoice.amountPaid : invoice.amountPaid - invoice.amountPaidOffStripe;
  return {
    id: invoice.id,
    object: 'invoice',
    account_country: 'DE',
    account_name: 'Local Stripe',
    account_tax_ids: null,
    amount_due: invoice.amountDue,
    amount_paid: amountPaid,
    amount_remaining: invoice.amountDue - amountPaid,
    amount_shipping: 0,
    application: null,
    attempt_count: invoice.attemptCount,
    attempted: invoice.attempted,
    auto_advance: invoice.status === 'draft' || invoice.status === 'open',
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, status: null },
    automatically_finalizes_at: null,
    billing_reason: invoice.billingReason,
    collection_method: invoice.collectionMethod,
    created: invoice.created,
    currency: invoice.currency,
    custom_fields: null,
    customer: invoice.customer,
    customer_address: renderAddress(invoice.customerAddress),
    customer_email: invoice.customerEmail,
    customer_name: invoice.customerName,
    customer_phone: null,
    customer_shipping: null,
    customer_tax_exempt: 'none',
    customer_tax_ids: [],
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    due_date: invoice.dueDate,
    effective_at: invoice.effectiveAt ?? invoice.finalizedAt,
    ending_balance: invoice.finalizedAt === null ? null : endingBalance(invoice),
    footer: null,
    from_invoice: invoice.revises === null ? null : { action: 'revision', invoice: invoice.revises },
    hosted_invoice_url: null,
    invoice_pdf: null,
    issuer: { type: 'self' },
    last_finalization_error: null,
    latest_revision: null,
    lines: embeddedList(
      invoice.lines.map((line) => renderLine(invoice, line, shape)),
      `/v1/invoices/${invoice.id}/lines`,
      EMBEDDED,
    ),
    livemode: false,
    metadata: invoice.metadata,
    next_payment_attempt: invoice.nextPaymentAttempt,
    number: invoice.number,
    on_behalf_of: null,
    ...((shape.basil || shape.acacia) && { parent: parentOf(invoice) }),
    ...(shape.basil ? newerFields(invoice) : olderFields(invoice, shape)),
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    period_end: invoice.periodEnd,
    period_start: invoice.periodStart,
    post_payment_credit_notes_amount: invoice.postPaymentCreditNotesAmount,
    pre_payment_credit_notes_amount: invoice.prePaymentCreditNotesAmount,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    starting_balance: invoice.startingBalance,
    statement_descriptor: null,
    status: invoice.status,
    status_transitions: {
      finalized_at: invoice.finalizedAt,
      marked_uncollectible_at: invoice.markedUncollectibleAt,
      paid_at: invoice.paidAt,
      voided_at: invoice.voidedAt,
    },
    subtotal: invoice.subtotal,
    subtotal_excluding_tax: invoice.subtotal,
    test_clock: null,
    total: invoice.total,
    total_discount_amounts: [],
    total_excluding_tax: invoice.total - invoice.tax,
    webhooks_delivered_at: invoice.created,
  };
}

/** A total below zero, or less than the credit, leaves a credit. */
function endingBalance({ total, startingBalance }: Pick<Invoice, 'total' | 'startingBalance'>): number {
  return Math.min(0, total + startingBalance);
}

function parentOf(invoice: Invoice): Json | null {
  if (!invoice.subscription) return null;
  return {
    quote_details: null,
    subscription_details: { metadata: invoice.subscriptionMetadata, subscription: invoice.subscription },
    type: 'subscription_details',
  };
}

function newerFields(invoice: Invoice): Json {
  return {
    amount_overpaid: 0,
    total_pretax_credit_amounts: [],
    total_taxes:
      invoice.tax === 0
        ? []
        : [
            {
              amount: invoice.tax,
              tax_behavior: 'exclusive',
              tax_rate_details: null,
              taxability_reason: 'standard_rated',
              taxable_amount: invoice.subtotal,
              type: 'tax_rate_details',
            },
          ],
  };
}

function olderFields(invoice: Invoice, shape: Shape): Json {
  return {
    application_fee_amount: null,
    charge: invoice.charge,
    discount: null,
    paid: invoice.status === 'paid',
    paid_out_of_band: invoice.status === 'paid' && invoice.amountPaidOffStripe > 0,
    payment_intent: invoice.paymentIntent,
    quote: null,
    subscription: invoice.subscription,
    ...(shape.modern &&
      invoice.subscription && { subscription_details: { metadata: invoice.subscriptionMetadata } }),
    tax: invoice.tax === 0 ? null : invoice.tax,
    total_tax_amounts:
      invoice.tax === 0 ? [] : [{ amount: invoice.tax, inclusive: false, taxable_amount: invoice.subtotal }],
    transfer_data: null,
  };
}

export function renderLine(invoice: Invoice, line: InvoiceLine, shape: Shape): Json {
  return {
    id: line.id,
    object: 'line_item',
    amount: line.amount,
    currency: invoice.currency,
    description: line.description,
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice: invoice.id,
    livemode: false,
    metadata: {},
    ...(shape.basil ? newerLineFields(invoice, line) : olderLineFields(invoice, line)),
    period: { end: line.periodEnd, start: line.periodStart },
    quantity: line.quantity,
  };
}

function newerLineFields(invoice: Invoice, line: InvoiceLine): Json {
  return {
    parent: line.subscriptionItem
      ? {
          invoice_item_details: null,
          subscription_item_details: {
            invoice_item: null,
            proration: false,
            proration_details: { credited_items: null },
            subscription: invoice.subscription,
            subscription_item: line.subscriptionItem,
          },
          type: 'subscription_item_details',
        }
      : null,
    pretax_credit_amounts: [],
    pricing: line.priceId
      ? {
          price_details: { price: line.priceId, product: productOf(line.priceId) },
          type: 'price_details',
          unit_amount_decimal: String(line.amount / Math.max(1, line.quantity)),
        }
      : null,
    subtotal: line.amount,
    taxes: [],
  };
}

function olderLineFields(invoice: Invoice, line: InvoiceLine): Json {
  return {
    amount_excluding_tax: line.amount,
    plan: null,
    price: line.priceId ? { id: line.priceId, object: 'price', product: productOf(line.priceId) } : null,
    proration: false,
    subscription: invoice.subscription,
    ...(line.subscriptionItem && { subscription_item: line.subscriptionItem }),
    tax_amounts: [],
    tax_rates: [],
    type: line.subscriptionItem ? 'subscription' : 'invoiceitem',
  };
}
