import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockDataDir, nameSocket } from '@/db/lock';
import { runCommandFile, startCommandServer } from '../support/command-server';

type Server = Awaited<ReturnType<typeof startCommandServer>>;

const lockOf = (dataDir: string) => JSON.parse(readFileSync(join(dataDir, 'lock.json'), 'utf8'));

describe('a server that has the embedded database carries out commands', () => {
  let folder: string;
  let dataDir: string;
  let server: Server;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'w5t-served-'));
    dataDir = join(folder, 'data');
    server = await startCommandServer(dataDir);
  }, 120_000);

  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (name: string, args: string[] = [], input = '') =>
    runCommandFile(name, args, { DATA_DIR: dataDir }, input);

  /** Says something to the socket by hand; @returns what it answers until it hangs up */
  async function say(said: string) {
    const socket = connect(lockOf(dataDir).socket);
    await once(socket, 'connect');
    socket.write(said);
    return (await text(socket))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  test('over a socket of its owner alone, which the lock names', () => {
    const { socket, pid } = lockOf(dataDir);
    expect(pid).toBe(server.child.pid);
    expect(socket).toBe(join(dataDir, 'commands.sock'));
    expect(statSync(socket).mode & 0o777).toBe(0o600);
  });

  test('sample data, once', async () => {
    expect(await run('db-seed')).toMatchObject({ code: 0, out: expect.stringMatching(/^customers: \d+$/m) });
    expect(await run('db-seed')).toMatchObject({ code: 1, err: expect.stringMatching(/already holds/) });
  });

  test('staff, with a password that is piped in or made', async () => {
    const added = await run('staff', ['add', 'a@example.com', '--role', 'admin'], 'correct horse battery\n');
    expect(added).toEqual({
      code: 0,
      out: 'a@example.com can sign in at http://localhost:3000/sign-in\n',
      err: '',
    });
    const reset = await run('staff', ['reset-password', 'a@example.com']);
    expect(reset).toMatchObject({ code: 0, out: expect.stringMatching(/^Password: \S{12,}$/m) });
    expect((await run('staff', ['list'])).out).toMatch(/^a@example\.com\tadmin\t/);
    const again = await run('staff', ['add', 'a@example.com']);
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^\S.*\.\n$/) });
  });

  test('access tokens', async () => {
    const made = await run('token', ['create', '--name', 'ERP', '--scopes', 'mcp:read']);
    expect(made).toEqual({ code: 0, out: expect.stringMatching(/^w5t_\S+\n$/), err: '' });
    expect((await run('token', ['list'])).out).toMatch(/^1\tvalid\tERP\t/);
    expect((await run('token', ['revoke', '1'])).code).toBe(0);
  });

  test('the reconciliation, and how far it is; a dry run on a copy', async () => {
    const done = await run('reconcile');
    expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/^Run 1, completed:/m) });
    expect(done.err).toMatch(/^\[#+\.*\] \d+\/\d+ /);
    const dry = await run('reconcile', ['--dry-run']);
    expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/^Dry run, nothing was written/m) });
    // The server's own connection still meets the real tables.
    expect((await run('reconcile')).out).toMatch(/^Run 2, completed:/m);
  });

  test('the import from Stripe, whose key the server has or has not', async () => {
    expect(await run('import', ['stripe', '--dry-run'])).toEqual({
      code: 1,
      out: '',
      err: 'STRIPE_SECRET_KEY is not set: Stripe cannot be asked.\n',
    });
  });

  test('db:migrate, which has nothing to do', async () => {
    expect(await run('db-migrate')).toMatchObject({ code: 0, out: expect.stringMatching(/up to date/) });
  });

  test('several at once', async () => {
    const listed = await Promise.all(Array.from({ length: 3 }, () => run('token', ['list'])));
    expect(listed.map(({ code }) => code)).toEqual([0, 0, 0]);
  });

  test.each([
    ['nonsense', 'hello\n'],
    [
      'an unknown command',
      `${JSON.stringify({ command: 'toString', args: [], user: null, isTTY: false })}\n`,
    ],
    [
      'an unknown field',
      `${JSON.stringify({ command: 'token', args: [], user: null, isTTY: false, more: 1 })}\n`,
    ],
    ['wrong arguments', `${JSON.stringify({ command: 'token', args: ['--x'], user: null, isTTY: false })}\n`],
    ['a line without an end', 'x'.repeat(300_000)],
  ])('%s is answered with a sentence', async (_, said) => {
    expect(await say(said)).toEqual([{ err: expect.stringMatching(/^[A-Z].*\n$/) }, { exit: 1 }]);
  });

  test('more at once than it takes are refused; whoever hangs up does no harm', async () => {
    const path = lockOf(dataDir).socket;
    const idle = Array.from({ length: 4 }, () => connect(path));
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    expect(await say('\n')).toEqual([{ err: expect.stringMatching(/other commands/) }, { exit: 1 }]);
    for (const socket of idle) socket.destroy();
    expect((await run('token', ['list'])).code).toBe(0);
    const gone = connect(path);
    gone.write(`${JSON.stringify({ command: 'reconcile', args: [], user: null, isTTY: false })}\n`, () =>
      gone.destroy(),
    );
    await once(gone, 'close');
    expect((await run('token', ['list'])).code).toBe(0);
  });

  test('a killed server leaves nothing in the way', async () => {
    await server.stop('SIGKILL');
    expect(existsSync(join(dataDir, 'commands.sock'))).toBe(true);
    expect((await run('token', ['list'])).code).toBe(0);
    server = await startCommandServer(dataDir);
    expect((await run('token', ['list'])).code).toBe(0);
    await server.stop();
    expect(existsSync(join(dataDir, 'commands.sock'))).toBe(false);
  });
});

describe('a data directory with a long path', () => {
  test('has its socket in a folder of its own below the temporary one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'w5t-served-'));
    const dataDir = join(folder, 'x'.repeat(120));
    mkdirSync(dataDir);
    const server = await startCommandServer(dataDir);
    const { socket } = lockOf(dataDir);
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700);
    expect(await runCommandFile('token', ['list'], { DATA_DIR: dataDir })).toMatchObject({ code: 0 });
    await server.stop();
    expect(existsSync(dirname(socket))).toBe(false);
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('a command that comes too early', () => {
  test('waits for a server that is starting', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'w5t-served-'));
    const starting = startCommandServer(folder);
    while (!existsSync(join(folder, 'lock.json'))) await new Promise((next) => setTimeout(next, 5));
    const listed = await runCommandFile('token', ['list'], { DATA_DIR: folder });
    expect(listed).toMatchObject({ code: 0, out: 'There are no access tokens yet.\n' });
    await (await starting).stop();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('a command whose server stops meanwhile', () => {
  test('says that nobody knows how far it came', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'w5t-served-'));
    const owner = lockDataDir(folder);
    const socket = join(folder, 'commands.sock');
    const server = createServer((connection) => connection.once('data', () => connection.destroy()));
    await new Promise<void>((done) => server.listen(socket, done));
    nameSocket(folder, socket);
    expect(await runCommandFile('token', ['list'], { DATA_DIR: folder })).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^The server stopped before the command had ended: look whether/),
    });
    server.close();
    owner();
    rmSync(folder, { recursive: true, force: true });
  });
});
