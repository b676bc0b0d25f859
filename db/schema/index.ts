export * from './access';
export * from './counts';
export * from './customers';
export * from './invoices';
export * from './journal';
export * from './payments';
export * from './services';
export * from './sync';
