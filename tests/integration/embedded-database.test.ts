import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openEmbedded } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { DataDirBusyError, lockDataDir, waitForLock } from '@/db/lock';
import { staffUsers } from '@/db/schema';
import { staffSecret } from '@/lib/auth/staff-auth';
import { prepareDatabase } from '@/lib/cli/demo/prepare-database';
import { readSettings } from '@/lib/cli/demo/settings';
import { parseEnv } from '@/lib/env';
import { openDatabase, restoreDatabase } from '@/lib/open-database';
import { baseRuntime } from '@/lib/runtime';
import {
  bundledCommands,
  makeDataDir,
  openCommandServer,
  refusal,
  runCommandFile,
  success,
} from '../support/command-server';
import { createCustomer, createInvoice, createPayment } from '../support/factories';
import { runCommandHere, temporaryFolder } from '../support/run-command';

const umask = process.umask();
const folder = temporaryFolder();
/** Folder of a migrated database. The tests share it, one after the other. */
let dataDir: string;
beforeAll(async () => {
  process.umask(0); // This is the most permissive umask that an operator can have.
  dataDir = await makeDataDir(join(folder, 'some/data'));
});
afterAll(() => void process.umask(umask));

describe('the lock of the embedded database', () => {
  let empty: string;
  let children: ChildProcess[];

  beforeEach(() => {
    empty = mkdtempSync(join(folder, 'lock-'));
    children = [];
  });
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  /**
   * Starts a process that tries to lock the folder, prints the outcome, and keeps running.
   *
   * @param shell the shell command that starts the process
   */
  async function startOwner(shell = 'exec "$@"'): Promise<{ child: ChildProcess; word: string }> {
    const script = `
      import(${JSON.stringify(join(await bundledCommands(), 'db/lock.js'))}).then(({ lockDataDir }) => {
        setInterval(() => {}, 1000);
        try { lockDataDir(${JSON.stringify(empty)}); console.log('owner'); }
        catch (error) { console.log(error.constructor.name); }
      });`;
    const command = ['-c', shell, 'sh', process.execPath, '-e', script];
    const child = spawn('sh', command, { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    const [data] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
    return { child, word: String(data).trim() };
  }

  /**
   * Returns the process id of the lock's owner, or null if the lock is free.
   *
   * @param silentMs how long to wait for the heartbeat of another container
   */
  const owner = (silentMs = 10) => {
    try {
      lockDataDir(empty, silentMs)();
    } catch (error) {
      if (error instanceof DataDirBusyError) return error.pid;
      throw error;
    }
    return null;
  };
  /** Touches the lock every so many milliseconds, even while this thread is blocked. */
  const beatElsewhere = (everyMs: number) =>
    new Worker(
      `const { utimesSync } = require('node:fs');
      setInterval(() => utimesSync(${JSON.stringify(join(empty, 'lock.json'))}, new Date(), new Date()), ${everyMs});`,
      { eval: true },
    );
  const writeLock = (text: string) => writeFileSync(join(empty, 'lock.json'), text);

  test('the database lock is free again after its process is killed', async () => {
    const { child, word } = await startOwner();
    expect(word).toBe('owner');
    expect(owner()).toBe(child.pid);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(join(empty, 'lock.json'))).toBe(true);
    expect(owner()).toBeNull();
    expect(readdirSync(empty)).toEqual([]);
  });

  test('only one of four processes takes over the lock of a dead process', async () => {
    writeLock(JSON.stringify({ pid: 2 ** 22 + 1, started: 'long ago' }));
    const started = await Promise.all(Array.from({ length: 4 }, startOwner));
    const words = started.map(({ word }) => word).sort();
    expect(words).toEqual(['DataDirBusyError', 'DataDirBusyError', 'DataDirBusyError', 'owner']);
  });

  test('a process that cannot write the database lock leaves no file', async () => {
    expect((await startOwner('ulimit -f 0; exec "$@"')).word).not.toBe('owner');
    expect(readdirSync(empty)).toEqual([]);
  });

  test.each([
    ['with the same process id from before a reboot', { pid: process.pid, started: 'before a reboot' }],
    ['cut off by a crash', null],
  ])('a database lock %s is taken over', (_, lock) => {
    writeLock(lock ? JSON.stringify(lock) : '{"pid":');
    expect(owner()).toBeNull();
  });

  test.runIf(process.platform === 'linux')(
    'the lock of another container is taken over only if no heartbeat comes',
    async () => {
      // The process id is that of a running process here, or of none. Neither says anything about the other container.
      for (const pid of [process.pid, 2 ** 22 + 1]) {
        writeLock(JSON.stringify({ pid, started: 'there', namespace: 'another' }));
        const there = beatElsewhere(100);
        expect(owner(20_000)).toBe(pid);
        await there.terminate();
        expect(owner()).toBeNull();
      }
      writeLock(JSON.stringify({ pid: process.pid, started: 'there', namespace: 'another' }));
      const beat = setInterval(() => utimesSync(join(empty, 'lock.json'), new Date(), new Date()), 100);
      const waiting = waitForLock(empty, 500);
      try {
        expect(await Promise.race([waiting, sleep(1200, 'waits')])).toBe('waits');
      } finally {
        clearInterval(beat);
      }
      (await waiting)();
    },
  );

  test.runIf(process.platform === 'linux')(
    'a process that was paused until another container took its lock neither keeps that lock alive nor removes it',
    async () => {
      for (const lock of [lockDataDir, waitForLock]) {
        const unlock = await lock(empty);
        const others = JSON.stringify({ pid: process.pid, started: 'there', namespace: 'another' });
        writeLock(others);
        unlock();
        expect(readFileSync(join(empty, 'lock.json'), 'utf8')).toBe(others);
        rmSync(join(empty, 'lock.json'));
      }
      // The heartbeat of a second lock shows how long a busy machine takes for two beats.
      const otherFolder = join(empty, 'other');
      const unlockOther = lockDataDir(otherFolder);
      const twoBeats = async () => {
        const touched = () => statSync(join(otherFolder, 'lock.json')).mtimeMs;
        for (let beat = 0; beat < 2; beat += 1) {
          const before = touched();
          await expect.poll(touched, { timeout: 10_000 }).not.toBe(before);
        }
      };
      const unlock = lockDataDir(empty);
      const untouched = () => statSync(join(empty, 'lock.json')).mtimeMs === 1000;
      const age = () => utimesSync(join(empty, 'lock.json'), 1, 1);
      age();
      await expect.poll(untouched, { timeout: 10_000 }).toBe(false);
      writeLock(JSON.stringify({ pid: process.pid, started: 'there', namespace: 'another' }));
      // A heartbeat that read our lock just before it was replaced may still touch the new file, but only once.
      age();
      await twoBeats();
      age();
      await twoBeats();
      expect(untouched()).toBe(true);
      expect(owner()).toBeNull();
      unlock();
      unlockOther();
    },
  );

  test.runIf(process.platform === 'linux')(
    'the heartbeat of the database lock goes on while a query blocks the process',
    () => {
      const unlock = lockDataDir(empty);
      const beat = () => statSync(join(empty, 'lock.json')).mtimeMs;
      utimesSync(join(empty, 'lock.json'), 1, 1);
      const cell = new Int32Array(new SharedArrayBuffer(4));
      for (let waited = 0; beat() === 1000 && waited < 100; waited += 1) Atomics.wait(cell, 0, 0, 100);
      expect(beat()).toBeGreaterThan(Date.now() - 10_000);
      unlock();
    },
  );

  test('opening the embedded database twice is refused with the owner’s process id', async () => {
    const env = parseEnv({ DATA_DIR: dataDir });
    const first = await openDatabase(env);
    const sentence = new RegExp(
      `in use by process ${process.pid}, perhaps of another container: stop .*DATA_DIR.*PostgreSQL`,
    );
    const sentences = [expect.stringMatching(sentence)];
    await expect(openDatabase(env)).rejects.toMatchObject({ name: 'StartError', sentences });
    await first.db.execute('select 1');
    await first.close();
    await (await openDatabase(env)).close();
    expect(readdirSync(dataDir)).toEqual(['pglite', 'pglite-reserve']);
  });

  test('an unwritable DATA_DIR is refused with the advice to choose another folder', async () => {
    writeFileSync(join(empty, 'file'), '');
    const sentences = [expect.stringMatching(/^DATA_DIR .* cannot be written: choose another folder/)];
    const opened = openDatabase(parseEnv({ DATA_DIR: join(empty, 'file/data') }));
    await expect(opened).rejects.toMatchObject({ sentences });
  });
});

describe('the files of the embedded database', () => {
  const everything = () => [
    dataDir,
    ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).map((name) => join(dataDir, name)),
  ];
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  /** Returns the mode and the path of each file that users other than its owner can access. */
  const exposed = () =>
    everything()
      .filter((path) => !modeOf(path).endsWith('00'))
      .map((path) => `${modeOf(path)} ${path}`);

  test('all files of the embedded database are accessible only to their owner', async () => {
    const { db, close } = await openEmbedded(dataDir);
    staffSecret({ betterAuthSecret: null, dataDir }, (size) => Buffer.alloc(size, 1));
    expect(everything().length).toBeGreaterThan(1000);
    expect(exposed()).toEqual([]);
    for (const statement of [
      sql`create table more as select repeat(md5(g::text), 20) as t from generate_series(1, 30000) g`,
      ...[sql`create index more_t on more (t)`, sql`vacuum more`, sql`checkpoint`],
    ]) {
      await db.execute(statement);
    }
    expect(exposed()).toEqual([]);
    await close();
    await (await openEmbedded(dataDir)).close();
    expect(exposed()).toEqual([]);
  });

  test('opening the embedded database restricts the files of the product in DATA_DIR to their owner, and no other files', async () => {
    const demo = join(dataDir, 'demo.json');
    writeFileSync(demo, '{}');
    writeFileSync(join(dataDir, 'stripe-local-1.json'), '{}');
    for (const path of everything()) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o666);
    const theirs = join(dataDir, 'theirs');
    mkdirSync(theirs, { mode: 0o755 });
    writeFileSync(join(theirs, 'run.sh'), '', { mode: 0o755 });
    await (await openEmbedded(dataDir)).close();
    expect(exposed()).toEqual([`755 ${theirs}`, `755 ${join(theirs, 'run.sh')}`]);
    expect([modeOf(dataDir), modeOf(demo)]).toEqual(['700', '600']);
  });
});

describe('backups of the embedded database', () => {
  const CONTENTS = sql`select (select count(*)::int from payments) as payments,
    (select max(number) from invoices) as number, (select sum(row_count)::int from invoice_blocks) as counted`;
  const at = (name: string) => join(folder, name);
  const readContents = (db: Database) => rows(db, CONTENTS);
  let server: Awaited<ReturnType<typeof openCommandServer>>;

  beforeAll(async () => {
    server = await openCommandServer(dataDir);
    const { db } = server.runtime;
    const { id, customer_id } = await createInvoice(db, { number: 'B-1' });
    await createPayment(db, { invoice_id: id, customer_id });
  });
  afterAll(() => server?.stop());

  const restore = (file: string, to: string) => runCommandFile('restore', [file], { DATA_DIR: to });

  test('a backup of a running server is accessible only to its owner, and can be restored into a new folder', async () => {
    const contents = /: [\d.]+ MB, the embedded database in \S+ with 1 customer, 1 invoice and 1 payment\./;
    const backup = await runCommandFile('backup', [at('one.tgz')], { DATA_DIR: dataDir });
    expect(backup).toEqual(success(contents));
    expect(statSync(at('one.tgz')).mode & 0o777).toBe(0o600);
    const restored = await restore(at('one.tgz'), at('two'));
    expect(restored).toEqual(success(`Restored into ${at('two')}.`));
    const { db, close } = await openEmbedded(at('two'));
    expect(await readContents(db)).toEqual(await readContents(server.runtime.db));
    await close();
  });

  test.each([
    ['replace an existing file', 'one.tgz', 'one.tgz already exists.'],
    ['write into a missing folder', 'no/where.tgz', 'no/where.tgz does not exist.'],
  ])('a backup does not %s', async (_, file, sentence) => {
    const { runtime } = server;
    const refused = await runCommandHere(runtime.db, 'backup', [file], { cwd: folder, runtime });
    expect(refused).toEqual({ code: 1, output: [sentence] });
  });

  test.each(['two', 'some/data'])(
    'a restore does not replace the database in the folder %s',
    async (name) => {
      const contents = new Uint8Array(readFileSync(at('one.tgz')));
      await expect(restoreDatabase(at(name), 'one.tgz', contents)).rejects.toMatchObject({
        sentences: [`DATA_DIR ${at(name)} already contains a database: set DATA_DIR to an empty folder.`],
      });
    },
  );

  test.each([
    ['cut off', () => readFileSync(at('one.tgz')).subarray(0, 100_000)],
    ['not a backup', () => 'no backup'],
  ])('restoring a file that is %s is refused', async (_, contents) => {
    writeFileSync(at('broken.tgz'), contents());
    const refused = await restore(at('broken.tgz'), at('three'));
    expect(refused).toEqual(refusal(`${at('broken.tgz')} is not a complete backup.`));
    expect(readdirSync(at('three'))).toEqual([]);
  });

  test('restoring a missing file is refused', async () => {
    expect(await restore('none.tgz', at('three'))).toEqual(refusal('none.tgz does not exist.'));
  });

  test('a command opens the embedded database itself if no server is running', async () => {
    const listed = await runCommandFile('token', ['list'], { DATA_DIR: at('two') });
    expect(listed).toEqual(success('There are no access tokens yet.'));
  });

  test('the demo refuses an embedded database with a customer that it did not create, and adds no login', async () => {
    const env = parseEnv({ DATA_DIR: at('own'), LOG_LEVEL: 'silent' });
    const own = await openEmbedded(await makeDataDir(at('own')));
    await createCustomer(own.db);
    await own.close();
    const settings = readSettings(at('own'), baseRuntime(env).randomBytes);
    const demo = { env, settings, variables: { NODE_ENV: 'production' as const }, ownStripe: false };
    await expect(prepareDatabase(demo)).rejects.toThrow(/contains rows that the demo did not create/);
    const { db, close } = await openEmbedded(at('own'));
    expect(await db.$count(staffUsers)).toBe(0);
    await close();
  });
});
