import { type StdioOptions, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { lockDataDir, nameSocket } from '@/db/lock';
import { COMMANDS, type CommandName } from '@/lib/commands/commands';
import { isFromStripe } from '@/lib/commands/import';
import { serveCommands } from '@/lib/commands/serve-commands';
import { IMPORT_NAMES } from '@/lib/imports/kinds';
import { scripts, version } from '@/package.json';
import {
  askCommand,
  bundledCommands,
  makeDataDir,
  openCommandServer,
  readLock,
  refusal,
  runCommandFile,
  startCommandFile,
  success,
} from '../support/command-server';
import { createCustomer } from '../support/factories';
import { useFiles } from '../support/run-command';

/** Returns the file that an npm script starts, and the script’s own first arguments. */
const startOf = (script: string) =>
  /\S+\.(ts|mjs).*$/
    .exec(scripts[script as keyof typeof scripts] ?? '')?.[0]
    .replace(/^lib\/cli\/launch\.mjs (\w+)/, 'lib/cli/$1.ts')
    .split(' ') ?? [];

describe('command arguments', () => {
  // The environment is invalid on purpose, because --help must work in any environment.
  const env = { DATA_DIR: '/dev/null/none', PORT: 'http', NODE_ENV: 'production' as const };
  const run = (script: string, args: string[]) => {
    const [file = '', ...first] = startOf(script);
    return runCommandFile(file, [...first, ...args], env);
  };

  test('npm scripts print their help, and npm start also its version, even in an invalid environment', async () => {
    const names =
      'bench customer:erase db:migrate db:recount db:seed demo dev reconcile simulate staff stripe:event token';
    const folder = await bundledCommands();
    const starts = names.split(' ').map((name) => {
      const [file = '', ...first] = startOf(name);
      return [`${join(folder, file.replace(/ts$/, 'js'))}?${name}`, ...first];
    });
    // One process runs all scripts to save time. The stub of process.exit starts the next one.
    const all = `(async () => { for (const [file, ...first] of ${JSON.stringify(starts)}) {
      process.argv = [process.argv[0], file, ...first, '--help'];
      await new Promise((next) => { process.exit = next; import(file); });
    } })()`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', all], { env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout.match(/(?<=^Usage: npm run (-s )?)[a-z]\S+/gm)?.join(' ')).toBe(names);
    expect(await run('start', ['--help'])).toEqual(success(/^Usage: npm start/));
    expect(await run('start', ['--version'])).toEqual(success(new RegExp(version)));
  });

  test.each([
    ['demo', ['--colour'], "Unknown option '--colour': see --help."],
    ['simulate', ['--runs', 'x'], '--runs must be a whole number from 1 to 2147483647.'],
    ['simulate', ['--pure', '--mutants'], '--pure goes with neither --database nor --mutants.'],
  ])('npm run %s -- %j is refused with one sentence', async (script, args, sentence) => {
    expect(await run(script, args)).toEqual(refusal(sentence));
  });

  const LINK_ALONE = '--link cannot be combined with other options: it only links the rows of its file.';
  const KINDS = `choose one of ${IMPORT_NAMES.join(', ')}`;
  const OLD_SCOPE = '--scopes: without_personal_data is no longer a scope. Use --hide-personal-data.';
  test.each<[CommandName, string[], string]>([
    ['reconcile', ['--dryrun'], "Unknown option '--dryrun': see --help."],
    ['import', ['--dry-run', 'stripe', '--link', 'a.csv'], LINK_ALONE],
    ['import', ['--link', 'customers', 'stripe', '--dry-run'], LINK_ALONE],
    ['import', ['--colour', 'stripe'], "Unknown option '--colour': see --help."],
    ['import', ['customers', 'stripe', '--delimiter', '??'], '--delimiter must be one character, or tab.'],
    ['import', ['cars', 'stripe', '--delimiter', ';'], `cars cannot be imported: ${KINDS}, stripe.`],
    ['db:migrate', ['now'], "Unknown argument 'now': see --help."],
    ['token', ['create', '--name', 'ERP', '--scopes', 'mcp:read,without_personal_data'], OLD_SCOPE],
    ['token', ['create', '--name'], "Option '--name <value>' argument missing: see --help."],
  ])('the command %s with the arguments %j is refused with one sentence', (name, args, sentence) => {
    const { read } = COMMANDS[name === 'import' && isFromStripe(args) ? 'import stripe' : name];
    expect(() => read(args)).toThrow(expect.objectContaining({ sentences: [sentence] }));
  });

  test.each<[CommandName, string[]]>([
    ['staff', ['remove', 'a@example.com', '--role', 'admin']],
    ['staff', ['set-role', 'a@example.com', '--role', 'admin', '--name', 'Ada']],
    ['staff', ['list', '--name', 'Ada']],
    ['token', ['revoke', '1', '--expires', '90d']],
    ['token', ['list', '--hide-personal-data']],
  ])(
    'the command %s %j is refused with its usage, because its verb does not take the option',
    (name, args) => {
      const { read, usage } = COMMANDS[name];
      expect(() => read(args)).toThrow(expect.objectContaining({ sentences: usage }));
    },
  );

  test.each<[CommandName, string[], string]>([
    ['reconcile', [], 'dry-run'],
    ['db:migrate', [], 'role-limits'],
    ['staff', ['add', 'a@example.com', 'admin'], 'role'],
  ])('npm run %s %j is refused if npm has consumed the option --%s', (name, args, option) => {
    vi.stubEnv('npm_lifecycle_event', name);
    vi.stubEnv(`npm_config_${option.replaceAll('-', '_')}`, 'true');
    const sentence = `npm took --${option} as one of its own options: write npm run ${name} -- --${option}.`;
    expect(() => COMMANDS[name].read(args)).toThrow(expect.objectContaining({ sentences: [sentence] }));
    vi.unstubAllEnvs();
  });
});

describe('the log of a process', () => {
  /** Runs a script in its own process. In the script, `log` is a logger that writes to stdout. */
  async function runLogging(script: string, stdout: 'pipe' | number) {
    const file = JSON.stringify(join(await bundledCommands(), 'lib/log.js'));
    const all = `import(${file}).then(({ createLogger }) => { const log = createLogger('info'); ${script} })`;
    const stdio: StdioOptions = ['ignore', stdout, 'pipe'];
    return spawnSync(process.execPath, ['-e', all], { stdio, timeout: 60_000, encoding: 'utf8' });
  }

  test('a process whose log file is on a full disk keeps running', async () => {
    const full = openSync('/dev/full', 'w');
    const later = `log.info('two'); console.error('alive'); process.exit(3);`;
    const { status, stderr } = await runLogging(
      `log.info('one'); setTimeout(() => { ${later} }, 100);`,
      full,
    );
    closeSync(full);
    expect([status, stderr]).toEqual([3, 'alive\n']);
  });

  test('log lines written just before a process exits are not lost', async () => {
    const script = `for (const line of ['one', 'two', 'three']) log.info(line); process.exit();`;
    const { stdout } = await runLogging(script, 'pipe');
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['one', 'two', 'three']);
  });
});

describe('a server with the embedded database', () => {
  const files = useFiles();
  const { folder } = files;
  let dataDir: string;
  let server: Awaited<ReturnType<typeof openCommandServer>>;

  beforeAll(async () => {
    dataDir = await makeDataDir(join(folder, 'data'));
    server = await openCommandServer(dataDir);
  });
  afterAll(() => server?.stop());

  const ask = (command: CommandName, args: string[] = [], cwd = folder) =>
    askCommand(dataDir, command, args, cwd);
  const socketPath = () => readLock(dataDir).socket ?? '';

  /** Sends text to the socket, and returns the server’s response. */
  async function send(message: string) {
    const socket = connect(socketPath());
    await once(socket, 'connect');
    socket.write(message);
    const lines = (await text(socket)).trim().split('\n');
    return lines.map((line) => JSON.parse(line));
  }

  test('the command socket is accessible only to its owner', () => {
    expect(readLock(dataDir)).toMatchObject({ pid: process.pid, socket: join(dataDir, 'commands.sock') });
    expect(statSync(socketPath()).mode & 0o777).toBe(0o600);
  });

  test('a command sends its standard input to the running server', async () => {
    const args = ['add', 'a@example.com', '--role', 'admin'];
    const done = await runCommandFile('staff', args, { DATA_DIR: dataDir }, 'correct horse battery\n');
    expect(done).toEqual(success('a@example.com can sign in at http://localhost:3000/sign-in'));
  });

  test('npm run staff resets a password, lists staff users, and refuses to add one twice', async () => {
    const reset = await ask('staff', ['reset-password', 'a@example.com']);
    expect(reset).toMatchObject({ code: 0, out: expect.stringMatching(/^Password: \S{12,}$/m) });
    expect((await ask('staff', ['list'])).out).toMatch(/^a@example\.com\tadmin\t/);
    expect(await ask('staff', ['add', 'a@example.com'])).toEqual(refusal(/^\S.*\.\n$/));
  });

  test('npm run token creates, lists and revokes access tokens', async () => {
    const made = await ask('token', ['create', '--name', 'ERP', '--scopes', 'mcp:read']);
    expect(made).toEqual(success(/^w5t_\S+\n$/));
    for (const { out } of await Promise.all([1, 2, 3].map(() => ask('token', ['list'])))) {
      expect(out).toMatch(/^1\tvalid\tERP\t/);
    }
    expect(await ask('token', ['revoke', '1'])).toMatchObject({ code: 0 });
    const hiding = ['--scopes', 'mcp:read', '--hide-personal-data'];
    expect(await ask('token', ['create', '--name', 'Model', ...hiding])).toMatchObject({ code: 0 });
    expect((await ask('token', ['list'])).out).toMatch(
      /^2\tvalid\tModel\tmcp:read\thides personal data\t.*\n1\trevoked\tERP\tmcp:read\tcreated/,
    );
  });

  test('npm run reconcile shows its progress, and with --dry-run stores no run', async () => {
    const done = await ask('reconcile');
    expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/^Run 1, completed:/m) });
    expect(done.err).toMatch(/^\[#+\.*\] \d+\/\d+ /);
    const dry = await ask('reconcile', ['--dry-run']);
    expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/^Dry run, nothing was written/m) });
    // The dry run used a copy of the database, so the next run in the server’s database is the second.
    expect((await ask('reconcile')).out).toMatch(/^Run 2, completed:/m);
  });

  test('npm run db:migrate reports that the running server’s database is up to date', async () => {
    expect(await ask('db:migrate')).toMatchObject({ code: 0, out: expect.stringMatching(/up to date/) });
  });

  test('import and export resolve paths against the command’s working directory, and an import without --yes adds no rows', async () => {
    files.write('in.csv', ['customer_number,company', 'T1,One', 'T2,Two', 'T1,Twice', '']);
    const done = await ask('import', ['customers', 'in.csv', '--yes']);
    expect(done).toMatchObject({ code: 1, out: expect.stringContaining('in.csv (UTF-8): 2 new,') });
    expect(files.read('in.rejected.csv')).toMatch(/\r\nT1,Twice\r\n$/);
    const printed = await ask('export', ['customers']);
    expect(printed).toEqual(success(/^(.*\r\n){3}$/));
    expect(await ask('export', ['customers', '--out', 'out.csv'])).toEqual(success());
    expect(files.read('out.csv')).toBe(printed.out);
    const importFile = (name: string) =>
      runCommandFile('import', ['customers', join(folder, name)], { DATA_DIR: dataDir });
    // All customers of the file exist, so there is nothing to confirm.
    expect((await importFile('in.csv')).out).not.toMatch(/--yes/);
    files.write('more.csv', ['customer_number,company', 'T3,Three', '']);
    const out = expect.stringMatching(/1 new.*\nNothing was written: add --yes/);
    expect(await importFile('more.csv')).toMatchObject({ code: 1, out });
    expect((await ask('export', ['customers'])).out).not.toMatch(/T3/);
    // A file with many columns needs an option for each of them.
    const options = Array.from({ length: 40 }, (_, i) => ['--map', `Column ${i}=`]).flat();
    const none = await ask('import', ['customers', 'none.csv', ...options]);
    expect(none).toMatchObject({ code: 1, err: expect.stringMatching(/none\.csv does not exist\.\n$/) });
  });

  test('npm run db:seed is refused if the database has customers', async () => {
    await createCustomer(server.runtime.db);
    const err = expect.stringMatching(/already contains customers/);
    expect(await ask('db:seed')).toMatchObject({ code: 1, err });
  });

  test('a command whose query fails prints a sentence without SQL', async () => {
    const { db } = server.runtime;
    await db.execute(sql`alter table access_tokens rename to broken_tokens`);
    try {
      const told = refusal('A database query failed (42P01).');
      expect(await ask('token', ['list'])).toEqual(told);
      expect(await runCommandFile('token', ['list'], { DATA_DIR: dataDir })).toEqual(told);
    } finally {
      await db.execute(sql`alter table broken_tokens rename to access_tokens`);
    }
  });

  const request = (fields: object) =>
    `${JSON.stringify({ args: [], user: null, isTTY: false, ...fields })}\n`;
  test.each([
    ['text that is not JSON', 'hello\n'],
    ['an unknown command', request({ command: 'toString' })],
    ['an unknown field', request({ command: 'token', more: 1 })],
    ['a wrong argument', request({ command: 'token', args: ['--x'] })],
    ['an endless line', 'x'.repeat(300_000)],
  ])('the command socket answers %s with a one-line error and exit code 1', async (_, message) => {
    expect(await send(message)).toEqual([{ err: expect.stringMatching(/^[A-Z].*\n$/) }, { exit: 1 }]);
  });

  test('the command socket refuses a fifth connection while four are open', async () => {
    const idle = Array.from({ length: 4 }, () => connect(socketPath()));
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    expect(await send('\n')).toEqual([{ err: expect.stringMatching(/other commands/) }, { exit: 1 }]);
    for (const socket of idle) socket.destroy();
    await expect.poll(() => ask('token', ['list'])).toMatchObject({ code: 0 });
  });

  test('the server still accepts commands after a client disconnects during a command', async () => {
    const gone = connect(socketPath());
    gone.write(request({ command: 'reconcile' }), () => gone.destroy());
    await once(gone, 'close');
    expect(await ask('token', ['list'])).toMatchObject({ code: 0 });
  });

  /** Locks another data folder. The returned `serve` makes the same server accept commands for this folder. */
  function lockOther(name: string) {
    const other = join(folder, name);
    mkdirSync(other);
    const unlock = lockDataDir(other);
    const serve = () => serveCommands({ ...server.runtime, env: { ...server.runtime.env, dataDir: other } });
    return { other, socket: join(other, 'commands.sock'), unlock, serve };
  }

  test('a command socket whose path would be too long is created in a temporary folder', async () => {
    const { other, unlock, serve } = lockOther('x'.repeat(120));
    const stop = await serve();
    const socket = readLock(other).socket ?? '';
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
    expect(await askCommand(other, 'token', ['list'])).toMatchObject({ code: 0 });
    await stop();
    unlock();
    expect(existsSync(dirname(socket))).toBe(false);
  });

  test('a command waits until the starting server accepts commands', async () => {
    const { other, socket, unlock, serve } = lockOther('starting');
    writeFileSync(socket, '');
    const { err, ended } = await startCommandFile('token', ['list'], { DATA_DIR: other });
    const waiting = `Waiting for process ${process.pid}, which has the embedded database open …\n`;
    await expect.poll(err).toBe(waiting);
    const stop = await serve();
    expect(await ended).toMatchObject({ code: 0, out: expect.stringMatching(/ERP/) });
    await stop();
    unlock();
    expect(existsSync(socket)).toBe(false);
  });

  test('a command reports that the server stopped before the command ended', async () => {
    const { other, socket, unlock } = lockOther('stopped');
    const stopped = createServer((connection) => connection.once('data', () => connection.destroy()));
    await new Promise<void>((done) => stopped.listen(socket, done));
    nameSocket(other, socket);
    await expect(askCommand(other, 'token', ['list'])).rejects.toMatchObject({
      sentences: [expect.stringMatching(/^The server stopped before the command ended: check what/)],
    });
    stopped.close();
    unlock();
  });

  test('npm run backup fails if it cannot see the file that the server wrote', async () => {
    const { other, socket, unlock } = lockOther('hidden');
    const isolated = createServer((connection) =>
      connection.once('data', () => connection.end('{"exit":0}\n')),
    );
    await new Promise<void>((done) => isolated.listen(socket, done));
    nameSocket(other, socket);
    const done = await runCommandFile('backup', [join(other, 'one.dump')], { DATA_DIR: other });
    expect(done).toEqual(refusal(/^The server wrote \S+one\.dump where other programs cannot see it: /));
    isolated.close();
    unlock();
  });
});
