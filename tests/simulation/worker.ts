import type { Orders } from './campaign';

const orders = JSON.parse(process.argv[2] ?? '{}') as Orders;
if (orders.isCovered) {
  // Blocks are counted in what is compiled from then on.
  const { BlockCoverage } = await import('./pure/coverage');
  const coverage = new BlockCoverage();
  await coverage.start();
  const { work } = await import('./work');
  await coverage.readSources();
  await work(orders, () => coverage.take());
} else {
  const { work } = await import('./work');
  await work(orders, null);
}
process.exit(0);
