export { type CheckoutInput, completeCheckout, createCheckoutSession } from './checkout';
export { type CustomerInput, createCustomer, deleteCustomer, updateCustomer } from './customers';
export {
  invoiceSubscription,
  renewSubscription,
  type SubscriptionInvoiceOptions,
} from './invoice-subscription';
export {
  createInvoice,
  deleteDraftInvoice,
  finalizeInvoice,
  type InvoiceInput,
  type InvoicePatch,
  markUncollectible,
  updateInvoice,
  voidInvoice,
} from './invoices';
export { beginPayment, failInvoicePayment, payInvoice } from './pay-invoice';
export {
  cancelSubscription,
  createSubscription,
  type SubscriptionInput,
  type SubscriptionPatch,
  updateSubscription,
} from './subscriptions';
