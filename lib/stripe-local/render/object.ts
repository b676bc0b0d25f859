import type { WorldObject } from '../model';
import { renderCharge } from './charge';
import { renderCheckoutSession } from './checkout-session';
import { renderCreditNote } from './credit-note';
import { renderCustomer } from './customer';
import { renderDispute } from './dispute';
import { renderInvoice } from './invoice';
import { renderInvoicePayment, renderPaymentIntent } from './payment';
import { renderRefund } from './refund';
import type { Json, Shape } from './shape';
import { renderSubscription } from './subscription';

/** A record as Stripe writes it in one API version, with nothing expanded. */
export function renderObject(object: WorldObject, shape: Shape): Json {
  switch (object.object) {
    case 'customer':
      return renderCustomer(object);
    case 'subscription':
      return renderSubscription(object, shape);
    case 'invoice':
      return renderInvoice(object, shape);
    case 'invoice_payment':
      return renderInvoicePayment(object);
    case 'payment_intent':
      return renderPaymentIntent(object, shape);
    case 'checkout.session':
      return renderCheckoutSession(object);
    case 'charge':
      return renderCharge(object, shape);
    case 'refund':
      return renderRefund(object);
    case 'dispute':
      return renderDispute(object);
    case 'credit_note':
      return renderCreditNote(object, shape);
  }
}
