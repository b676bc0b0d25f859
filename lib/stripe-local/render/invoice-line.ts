import type { Invoice, InvoiceLine } from '../model';
import { productOf } from './price';
import type { Json, Shape } from './shape';

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
    ...(shape.basil ? newerFields(invoice, line) : olderFields(invoice, line)),
    period: { end: line.periodEnd, start: line.periodStart },
    quantity: line.quantity,
  };
}

function newerFields(invoice: Invoice, line: InvoiceLine): Json {
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

function olderFields(invoice: Invoice, line: InvoiceLine): Json {
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
