import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import postgres from 'postgres';
import { isPoolerInstalled } from './support/pooler';

// This script runs the tests that `npm test` leaves out, because they take long or repeat tests in another environment.

const SERVER = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/**
 * Tests not to repeat on PostgreSQL. Most open their own database or use none, and the others run only statements that
 * other tests run too. The long tests have their own part.
 */
const WITHOUT_SERVER = new RegExp(
  [
    '(commands|embedded-database|own-server|seed|stripe-local[\\w-]*|both-ways)\\.test',
    '(openapi|tracing|upload|check-connection|mcp/view|simulation/sources)\\.test',
    ...['pure/', '\\.long\\.'],
  ].join('|'),
);
/** Tests with concurrent writes or locks that `sharesSessions` does not recognize by a word. */
const WITH_CONCURRENT_WRITES =
  /(alerts|reconcile|save-records|schedule|server-database|authorize|tokens)\.test/;
/** Tests to repeat behind the pooler, which changes only how sessions are shared. */
const BEHIND_POOLER = testsIn('http', 'integration').filter(
  (file) => usesServer(file) && sharesSessions(file),
);
const LONG_ON_POSTGRES = ['start-on-postgres', 'stored-counts', 'killed-processes', 'run-faults', 'upgrade'];
/**
 * Tests to repeat through Next. `npm test` runs them through our own server. The random calls of the MCP tools and the
 * test of their view send no HTTP request.
 */
const THROUGH_NEXT = [
  ...testsIn('mcp').filter((file) => !/(fuzz|view)\.test|\.long\./.test(file)),
  ...['cron', 'metrics', 'openapi', 'payments', 'unwell-database', 'webhook'].map(
    (name) => `tests/http/${name}`,
  ),
];

interface Part {
  name: string;
  command: string[];
  env?: Record<string, string>;
  /** Reason why this part cannot run on this machine. Null or absent if it can run. */
  missing?: string | null;
}

const vitest = (projects: string, files: string[] = []) => [
  ...['vitest', 'run'],
  ...projects.split(' ').flatMap((project) => ['--project', project]),
  ...files,
];

const noServer = (await serverAnswers()) ? null : `no PostgreSQL answers at ${SERVER}`;
// Otherwise the run would pass without the tests that it was asked for.
if (noServer && process.env.TEST_DATABASE_URL) throw new Error(noServer);
const noPooler = noServer ?? (isPoolerInstalled() ? null : 'PgBouncer is not installed');
/**
 * Tests to repeat on direct connections to PostgreSQL, to show that the same SQL works with prepared statements. HTTP
 * tests that run behind the pooler are not repeated here.
 */
const ON_POSTGRES = [
  ...testsIn('integration', 'mcp', 'evaluation', 'simulation'),
  ...testsIn('http').filter((file) => noPooler || !BEHIND_POOLER.includes(file)),
].filter(usesServer);
const onServer = { TEST_DATABASE_URL: SERVER };

const rules = noRules();

const PARTS: Part[] = [
  rules
    ? { name: 'long tests', command: vitest('long') }
    : { name: 'long tests and official rules for e-invoices', command: vitest('rules long') },
  ...(rules ? [{ name: 'official rules for e-invoices', command: [], missing: rules }] : []),
  { name: 'through Next', command: vitest('product', THROUGH_NEXT), env: { TEST_THROUGH: 'next' } },
  {
    name: 'on PostgreSQL',
    command: vitest('product', ON_POSTGRES),
    env: onServer,
    missing: noServer,
  },
  {
    name: 'long tests on PostgreSQL',
    command: vitest('long', LONG_ON_POSTGRES),
    env: onServer,
    missing: noServer,
  },
  {
    name: 'behind a transaction pooler',
    command: vitest('product', BEHIND_POOLER),
    env: { ...onServer, TEST_POOLER: '1' },
    missing: noPooler,
  },
  {
    name: 'mutants',
    command: ['tsx', 'tests/simulation/run.ts', '--mutants', ...(noServer ? [] : ['--database', SERVER])],
  },
];

const results = PARTS.map((part) => {
  if (part.missing) return `${part.name}: left out, because ${part.missing}.`;
  console.log(`\n== ${part.name}\n`);
  const started = Date.now();
  const { TEST_DATABASE_URL: _, ...inherited } = process.env;
  const { status } = spawnSync('npx', part.command, { stdio: 'inherit', env: { ...inherited, ...part.env } });
  const seconds = Math.round((Date.now() - started) / 1000);
  if (status !== 0) process.exitCode = 1;
  return `${part.name}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s`;
});
console.log(`\n${results.join('\n')}`);

/** Lists the test files in these folders and their subfolders. */
function testsIn(...folders: string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(`tests/${folder}`, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => `tests/${folder}/${name}`),
  );
}

function usesServer(file: string): boolean {
  return !WITHOUT_SERVER.test(file);
}

/** Returns whether a test has concurrent writes, locks or open transactions. */
function sharesSessions(file: string): boolean {
  const words = /\.transaction\(|for update|advisory|allSettled|concurrent/i;
  return WITH_CONCURRENT_WRITES.test(file) || words.test(readFileSync(file, 'utf8'));
}

/** Returns the reason why the official e-invoice rules cannot be checked on this machine. Returns null if they can. */
function noRules(): string | null {
  if (!existsSync('../shared/e-invoice')) return '../shared/e-invoice does not exist';
  const tools = ['xmllint', 'qpdf', 'pdffonts', 'pdfinfo', 'pdftotext'];
  const lacking = tools.find((tool) => spawnSync(tool, ['--version']).error);
  return lacking ? `${lacking} is not installed` : null;
}

async function serverAnswers(): Promise<boolean> {
  const sql = postgres(SERVER, { max: 1, connect_timeout: 30 });
  try {
    await sql`select 1`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.end();
  }
}
