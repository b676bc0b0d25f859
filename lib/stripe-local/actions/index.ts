export * from './checkout';
export * from './credit-notes';
export * from './invoices';
export * from './money-back';
export * from './pay-invoice';
export * from './subscriptions';
