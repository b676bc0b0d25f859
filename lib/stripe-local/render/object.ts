import type { WorldObject } from '../model';
import { renderCheckoutSession } from './checkout-session';
import { renderCustomer } from './customer';
import { renderInvoice } from './invoice';
import { renderInvoicePayment, renderPaymentIntent } from './payment';
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
  }
}
