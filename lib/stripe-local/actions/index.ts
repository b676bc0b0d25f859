export * from './checkout';
export * from './invoices';
export * from './money-back';
export * from './subscriptions';
