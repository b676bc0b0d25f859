import { randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { commandActor } from '@/lib/audit/record-audit';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { buildCopy } from '../build-copy';
import { withSeededDatabase } from '../database';
import { CONNECTIONS } from '../load';
import { writeSection } from '../performance-page';
import { type Served, serveCopy, serveNext, serveScript } from '../serve';
import { benchDeps } from '../take';
import { requireAllProcessed, SECRET } from '../webhook/deliveries';
import { type Figures, measureAll } from './measure';
import { isPart, operationsOf } from './operations';
import { recordStatements } from './record';
import { missedBy, type Result, toSentence, toText } from './report';

console.log('Building …');
const copy = await buildCopy({});
try {
  await withSeededDatabase(async (db, url) => {
    const recorded = await recordStatements(url);
    const env = { STRIPE_WEBHOOK_SECRET: SECRET };
    const floorEnv = { ...env, BENCH_STATEMENTS: JSON.stringify(recorded) };
    const servers: Served[] = [];
    try {
      servers.push(await serveCopy(copy.folder, url, env));
      servers.push(await serveNext(copy.folder, url, env));
      servers.push(await serveScript(import.meta.resolve('./floor-server.ts'), url, floorEnv));
      await compare(db, url, servers);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
} finally {
  copy.remove();
}

async function compare(db: Database, url: string, servers: Served[]): Promise<void> {
  const { token } = await createAccessToken(
    db,
    {
      name: 'bench',
      scopes: ['mcp:read', 'payments:read', 'payments:write'],
      expires_at: null,
      created_by: commandActor('bench'),
    },
    randomBytes,
  );
  const pool = openPostgres(url);
  const operations = await operationsOf(db, benchDeps(pool.db), servers, token).finally(pool.close);
  const synchronousCommit = await readSetting(db);
  console.log(`synchronous_commit is ${synchronousCommit}; in each column: ours / next start / floor`);
  const results: Result[] = [];
  for (const operation of operations) {
    const asked = servers.map(({ cpuMs }, i) => ({ cpuMs, once: operation.ask[i] ?? noServer }));
    for (const connections of [CONNECTIONS, 1]) {
      const [ours, next, floor] = (await measureAll(db, asked, connections)) as [Figures, Figures, Figures];
      const result = { operation, connections, ours, next, floor };
      console.log(toSentence(result));
      results.push(result);
    }
  }
  await requireAllProcessed(db);
  if (!isPart) await writeSection('Over HTTP', toText(results, synchronousCommit));
  const missed = results.flatMap(missedBy);
  console.log(missed.length === 0 ? '\nAll limits are kept.' : `\nMissed:\n${missed.join('\n')}`);
  if (missed.length > 0) process.exitCode = 1;
}

async function readSetting(db: Database): Promise<string> {
  const [found] = await rows<{ value: string }>(
    db,
    sql`select current_setting('synchronous_commit') as value`,
  );
  return found?.value ?? '';
}

function noServer(): never {
  throw new Error('there is no such server');
}
