const BENCHES: Record<string, () => Promise<unknown>> = {
  mcp: () => import('./mcp/bench'),
  payments: () => import('./payments/bench'),
  reconcile: () => import('./reconcile/bench'),
  webhook: () => import('./webhook/bench'),
};

// npm run bench -- NAME
const bench = BENCHES[process.argv[2] ?? ''];
if (!bench) {
  console.error(`Usage: npm run bench -- NAME, with one of: ${Object.keys(BENCHES).join(', ')}`);
  process.exit(2);
}
await bench();
