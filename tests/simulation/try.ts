import fc from 'fast-check';
import { openInMemory } from '@/db/client';
import { migrate } from '@/db/migrate';
import { runHistory, WrongEnd } from './history';
import { plans } from './plan';
import { openStage } from './stage';

const [from = '0', count = '50'] = process.argv.slice(2);
import { sql } from 'drizzle-orm';
import { openPostgres } from '@/db/client';

const url = process.env.SIM_URL;
let handle;
if (url) {
  const admin = openPostgres(url, { max: 1 });
  await admin.db.execute(sql.raw('drop database if exists w5t_try'));
  await admin.db.execute(sql.raw('create database w5t_try'));
  await admin.db.execute(sql.raw('alter database w5t_try set synchronous_commit = off'));
  await admin.close();
  handle = openPostgres(url.replace(/[^/]*$/, 'w5t_try'));
} else handle = await openInMemory();
await migrate(handle);
const stage = await openStage(handle);
const started = Date.now();
const sum: Record<string, number> = {};
const found = new Map<string, number>();
for (let seed = Number(from); seed < Number(from) + Number(count); seed++) {
  const [plan] = fc.sample(plans, { numRuns: 1, seed });
  if (!plan) continue;
  try {
    const o = await runHistory(stage, plan, seed);
    for (const [k, v] of Object.entries(o)) sum[k] = (sum[k] ?? 0) + v;
  } catch (e) {
    const k =
      e instanceof WrongEnd
        ? `${e.stage}: ${e.differences
            .map((d) => d.what.replace(/_\w+|\d+/g, '') + ' ' + Object.keys(d.expected ?? {}).slice(0, 4))
            .slice(0, 2)
            .join('; ')}`
        : String((e as Error).stack).slice(0, 300);
    if (process.argv[4] && e instanceof WrongEnd) console.log(JSON.stringify({...plan, steps: [], fates: [], api: plan.api.length}), '\n' + e.log.join('\n'), JSON.stringify(e.differences, null, 1));
    if (!found.has(k)) console.log(seed, k);
    found.set(k, (found.get(k) ?? 0) + 1);
  }
}
console.log(sum, (Date.now() - started) / Number(count), 'ms each');
console.log(
  [...found]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 30)
    .map(([k, v]) => `${v} ${k}`)
    .join('\n'),
);
await stage.close();
process.exit(0);
