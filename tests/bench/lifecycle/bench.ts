import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuild } from '../../support/next-build';
import { withSeededDatabase } from '../database';
import { measureMemory } from './memory';
import { restartOften } from './restarts';
import { measureStarts } from './start-up';

// What the product costs those who start and stop it: time, memory, and what stays behind. BENCH_PART=starts,
// memory, embedded or postgres does that alone; BENCH_PAGES=1 asks for pages too while it looks at the memory.

await ensureBuild();
const missed: string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'w5t-lifecycle-'));
const dataDir = join(folder, 'data');
const isWanted = (part: string) => (process.env.BENCH_PART ?? part) === part;
try {
  await withSeededDatabase(async (db, url) => {
    if (isWanted('starts')) missed.push(...(await measureStarts(url)));
    if (isWanted('memory')) missed.push(...(await measureMemory(db, url, folder)));
    if (isWanted('postgres'))
      missed.push(...(await restartOften('PostgreSQL', dataDir, { DATABASE_URL: url })));
  });
  if (isWanted('embedded')) missed.push(...(await restartOften('the embedded database', dataDir, {})));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(missed.length === 0 ? '\nAll limits are kept.' : `\nMissed:\n${missed.join('\n')}`);
if (missed.length > 0) process.exitCode = 1;
