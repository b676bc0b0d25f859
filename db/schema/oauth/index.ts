export * from './clients';
export * from './tokens';
