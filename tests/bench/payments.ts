import type { Database } from '@/db/database';
import { createBenchToken, withSeededDatabase } from './database';
import { asking, CONNECTIONS, compareAll, requireRatio, type Target } from './measure';
import { type Door, paymentOperations, requireSameReads, requireSameWrites } from './requests';
import { buildCopy, serveCopy } from './serve';

// Compares the payments API with a plain Next route of the same server. The SQL of that route is written by hand, and
// it writes the same rows.

const ROUNDS = { rounds: 9, roundMs: 500, warmUpMs: 3000 };
const LEAST_RATIO = 0.85;

console.log('Building a copy with the route to compare with …');
const copy = await buildCopy({
  'app/bench-plain/[[...id]]/route.ts': import.meta.resolve('./routes/payments.ts'),
  'tests/bench/same-sql.ts': import.meta.resolve('./same-sql.ts'),
});
try {
  await withSeededDatabase(async (db, databaseUrl) => {
    const server = await serveCopy(copy.folder, databaseUrl);
    const { cpuMs } = server;
    const doors = [
      { name: 'plain Next', url: `${server.url}/bench-plain`, cpuMs },
      { name: 'ours', url: `${server.url}/api/w5t/payments`, cpuMs },
    ];
    await compareDoors(db, doors).finally(server.stop);
  });
} finally {
  copy.remove();
}

async function compareDoors(db: Database, doors: Door[]): Promise<void> {
  const token = await createBenchToken(db, ['payments:read', 'payments:write']);
  const operations = await paymentOperations(db, doors, token);
  await requireSameReads(operations);
  await requireSameWrites(db, doors, token);
  const ratios: number[] = [];
  for (const { name, targets } of operations) {
    const contenders = doors.map((door, i) => ({ ...door, once: asking(targets[i] as Target) }));
    await compareAll(name, contenders, 1, ROUNDS);
    const [, ratio = 0] = await compareAll(name, contenders, CONNECTIONS, ROUNDS);
    ratios.push(ratio);
  }
  requireRatio('ours / plain Next', Math.min(...ratios), LEAST_RATIO);
}
