import type { Database } from '@/db/database';
import { createBenchToken, withSeededDatabase } from './database';
import { asking, CONNECTIONS, compareAll, type Target } from './measure';
import { type Door, paymentOperations, requireSameReads, requireSameWrites } from './requests';
import { buildCopy, type Served, serveCopy, serveScript } from './serve';

// The payments API next to a plain Next route and a bare Node server that run the same SQL.

const ROUNDS = { rounds: 9, roundMs: 500, warmUpMs: 3000 };
const LEAST_RATIO = 0.85;

console.log('Building a copy with the route to compare with …');
const copy = await buildCopy({
  'app/bench-plain/[[...id]]/route.ts': import.meta.resolve('./routes/payments.ts'),
  'tests/bench/same-sql.ts': import.meta.resolve('./same-sql.ts'),
});
const serveFloor = (_: string, databaseUrl: string) =>
  serveScript(import.meta.resolve('./floor-server.ts'), databaseUrl);
const DOORS = [
  { name: 'plain Next', path: '/bench-plain', serve: serveCopy },
  { name: 'ours', path: '/api/w5t/payments', serve: serveCopy },
  { name: 'bare node', path: '/api/w5t/payments', serve: serveFloor },
];
const servers: Served[] = [];
try {
  await withSeededDatabase(async (db, databaseUrl) => {
    try {
      const doors: Door[] = [];
      for (const { name, path, serve } of DOORS) {
        const server = await serve(copy.folder, databaseUrl);
        servers.push(server);
        doors.push({ name, url: server.url + path, cpuMs: server.cpuMs });
      }
      await compareDoors(db, doors);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
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
  const isFast = ratios.every((ratio) => ratio >= LEAST_RATIO);
  console.log(
    `\nours / plain Next must be at least ${LEAST_RATIO} on ${CONNECTIONS} connections: ${isFast ? 'it is' : 'it is NOT'}`,
  );
  if (!isFast) process.exitCode = 1;
}
