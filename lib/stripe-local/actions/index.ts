export {
  completeCheckout,
  createCheckoutSession,
  createCustomer,
  deleteCustomer,
  updateCustomer,
} from './checkout';
export { createCreditNote, voidCreditNote } from './credit-notes';
export { moveDispute, openDispute, returnDebit } from './disputes';
export {
  createInvoice,
  deleteDraftInvoice,
  finalizeInvoice,
  invoiceSubscription,
  markUncollectible,
  renewSubscription,
  updateInvoice,
  voidInvoice,
} from './invoices';
export { beginPayment, failInvoicePayment, payInvoice, payInvoicePart } from './pay-invoice';
export { refundPayment, settleRefund } from './refunds';
export {
  cancelSubscription,
  createSubscription,
  endsWithPeriod,
  updateSubscription,
} from './subscriptions';
