export { completeCheckout, createCheckoutSession } from './checkout';
export { createCreditNote, voidCreditNote } from './credit-notes';
export { createCustomer, deleteCustomer, updateCustomer } from './customers';
export { openDispute, returnDebit } from './disputes';
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
export { moveDispute } from './move-dispute';
export { beginPayment, failInvoicePayment, payInvoice, payInvoicePart } from './pay-invoice';
export { refundPayment, settleRefund } from './refunds';
export {
  cancelSubscription,
  createSubscription,
  endsWithPeriod,
  updateSubscription,
} from './subscriptions';
