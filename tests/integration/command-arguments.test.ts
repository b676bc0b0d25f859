import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { scripts } from '@/package.json';

const COMMANDS = [
  'bench',
  'customer:erase',
  'db:migrate',
  'db:recount',
  'db:seed',
  'demo',
  'dev',
  'reconcile',
  'simulate',
  'staff',
  'start',
  'stripe:event',
  'token',
];

/** Of package.json's script, without npm, whose start costs as much as the command. */
function run(name: string, args: string[], npm: Record<string, string> = {}) {
  const [program = '', ...fixed] = (scripts[name as keyof typeof scripts] ?? '').split(' ');
  const { PATH, TMPDIR } = process.env;
  const { status, stdout, stderr } = spawnSync(program, [...fixed, ...args], {
    encoding: 'utf8',
    env: { PATH, TMPDIR, NODE_ENV: 'production', DATA_DIR: '/dev/null/none', PORT: 'http', ...npm },
  });
  return { code: status, out: stdout, err: stderr };
}

test.each(COMMANDS)('npm run %s -- --help says how it is used, whatever the environment', (name) => {
  expect(run(name, ['--help'])).toEqual({
    code: 0,
    out: expect.stringMatching(/^Usage: npm (run|start)/),
    err: '',
  });
});

test.each([
  ['demo', ['--colour'], "Unknown option '--colour': --help shows what there is."],
  ['reconcile', ['--dryrun'], "Unknown option '--dryrun': --help shows what there is."],
  [
    'import',
    ['--dry-run', 'stripe', '--link', 'a.csv'],
    '--link goes alone: it links as the file says, and reads nothing else.',
  ],
  [
    'import',
    ['subscriptions', 'a.csv'],
    'subscriptions cannot be imported: there is customers, servers, services, invoices, invoice-lines, sales-documents, sales-document-lines, payments, stripe.',
  ],
  ['db:migrate', ['now'], "Unknown argument 'now': --help shows what there is."],
  ['token', ['create', '--name'], "Option '--name <value>' argument missing: --help shows what there is."],
  ['simulate', ['--runs', 'x'], '--runs must be a whole number from 1 to 2147483647.'],
  [
    'simulate',
    ['--mutants'],
    '--mutants needs --database URL, a PostgreSQL server: some mutations show only where connections race.',
  ],
])('npm run %s -- %j is one sentence', (name, args, sentence) => {
  expect(run(name, args)).toEqual({ code: 1, out: '', err: `${sentence}\n` });
});

test.each([
  ['reconcile', [], 'dry-run', 'npm run reconcile'],
  ['db:migrate', [], 'role-limits', 'npm run db:migrate'],
  ['staff', ['add', 'a@example.com', 'admin'], 'role', 'npm run staff'],
])('npm run %s %j is refused where npm has kept its --%s', (name, args, option, script) => {
  const npm = { npm_lifecycle_event: name, [`npm_config_${option.replaceAll('-', '_')}`]: 'true' };
  const sentence = `npm took --${option} for an option of its own: write ${script} -- --${option}.`;
  expect(run(name, args, npm)).toEqual({ code: 1, out: '', err: `${sentence}\n` });
});
