export { completeCheckout, createCheckoutSession } from './checkout';
export { createCustomer, deleteCustomer, updateCustomer } from './customers';
export {
  invoiceSubscription,
  renewSubscription,
} from './invoice-subscription';
export {
  createInvoice,
  deleteDraftInvoice,
  finalizeInvoice,
  markUncollectible,
  updateInvoice,
  voidInvoice,
} from './invoices';
export { beginPayment, failInvoicePayment, payInvoice, payInvoicePart } from './pay-invoice';
export {
  cancelSubscription,
  createSubscription,
  endsWithPeriod,
  updateSubscription,
} from './subscriptions';
