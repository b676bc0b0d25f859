import { randomBytes } from 'node:crypto';
import type { Database } from '@/db/database';
import { commandActor } from '@/lib/audit/record-audit';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { buildCopy } from '../build-copy';
import { withSeededDatabase } from '../database';
import { CONNECTIONS, type Load, measure, median, percentile, type Target } from '../load';
import { type Served, serveCopy, serveScript } from '../serve';
import { comparedOperations, type Door, type Operation } from './operations';
import { requireSameReads, requireSameWrites } from './require-same';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const ROUND_MS = Number(process.env.BENCH_ROUND_MS ?? 500);
const WARM_UP_MS = 3000;
const LEAST_RATIO = 0.85;

console.log('Building a copy with the routes to compare with …');
const copy = await buildCopy({
  'app/bench-plain/route.ts': import.meta.resolve('./routes/payments.ts'),
  'app/bench-plain/[id]/route.ts': import.meta.resolve('./routes/payment.ts'),
  'tests/bench/payments/same-sql.ts': import.meta.resolve('./same-sql.ts'),
});
const serveBare = (_: string, databaseUrl: string) =>
  serveScript(import.meta.resolve('./bare-server.ts'), databaseUrl);
const DOORS = [
  { name: 'ours', path: '/api/w5t/payments', serve: serveCopy },
  { name: 'plain Next', path: '/bench-plain', serve: serveCopy },
  { name: 'bare node', path: '/payments', serve: serveBare },
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
  const { token } = await createAccessToken(
    db,
    {
      name: 'bench',
      scopes: ['payments:read', 'payments:write'],
      expires_at: null,
      created_by: commandActor('bench'),
    },
    randomBytes,
  );
  const operations = await comparedOperations(db, doors, token);
  await requireSameReads(operations);
  await requireSameWrites(db, doors, token);
  const ratios: number[] = [];
  for (const operation of operations) {
    for (const target of operation.targets) await measure(target, WARM_UP_MS);
    await compare(operation, doors, 1);
    ratios.push(await compare(operation, doors, CONNECTIONS));
  }
  const isFast = ratios.every((ratio) => ratio >= LEAST_RATIO);
  console.log(
    `\nours / plain Next must be at least ${LEAST_RATIO} on ${CONNECTIONS} connections: ${isFast ? 'it is' : 'it is NOT'}`,
  );
  if (!isFast) process.exitCode = 1;
}

/** Prints what each door did. @returns ours / plain, the median of the rounds' ratios */
async function compare({ name, targets }: Operation, doors: Door[], connections: number): Promise<number> {
  const measured = doors.map((door, i) => ({
    door,
    target: targets[i] as Target,
    loads: [] as Load[],
    cpuMs: 0,
  }));
  for (let round = 1; round <= ROUNDS; round++) {
    for (const one of measured) {
      const before = one.door.cpuMs();
      one.loads.push(await measure(one.target, ROUND_MS, connections));
      one.cpuMs += one.door.cpuMs() - before;
    }
  }
  console.log(`\n${name}, ${connections} connection${connections === 1 ? '' : 's'}`);
  // Round by round, since whatever else runs on the machine slows a round's neighbours too.
  const ratios = measured.map(({ loads }) =>
    median(loads.map(({ perSecond }, round) => perSecond / (measured[1]?.loads[round]?.perSecond ?? 0))),
  );
  for (const [i, { door, loads, cpuMs }] of measured.entries()) {
    const times = loads.flatMap((load) => load.times).sort((a, b) => a - b);
    const perSecond = median(loads.map((load) => load.perSecond));
    console.log(
      [
        `  ${door.name.padEnd(12)}${perSecond.toFixed(0).padStart(6)} requests/s`,
        `p50 ${percentile(times, 0.5).toFixed(1).padStart(5)} ms`,
        `p99 ${percentile(times, 0.99).toFixed(1).padStart(5)} ms`,
        `server's CPU ${(cpuMs / times.length).toFixed(2)} ms`,
        `${ratios[i]?.toFixed(2)} of plain Next`,
      ].join('   '),
    );
  }
  return ratios[0] ?? 0;
}
