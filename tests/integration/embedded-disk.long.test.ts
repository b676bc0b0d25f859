import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DatabaseHandle, openEmbedded } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { DiskRoom, NoRoomError, usableBytes } from '@/db/embedded-files';
import { customers } from '@/db/schema';
import { parseEnv } from '@/lib/env';
import { openDatabase } from '@/lib/open-database';
import { makeDataDir, refusal, runCommandFile } from '../support/command-server';
import { readRows } from '../support/database';
import { createCustomer } from '../support/factories';
import { temporaryFolder } from '../support/run-command';

// These tests are slow, because most of them open their own embedded database, which takes seconds.

const folder = temporaryFolder();
/** Folder of a migrated database, which the tests copy. */
let dataDir: string;
beforeAll(async () => {
  dataDir = await makeDataDir(join(folder, 'data'));
});

const numbersIn = async (db: Database) =>
  (await readRows(db, customers)).map(({ customer_number }) => customer_number);

/** Opens and closes an embedded database. @returns the numbers of its customers */
async function numbersInFolder(dataDir: string): Promise<(string | null)[]> {
  const { db, close } = await openEmbedded(dataDir);
  return numbersIn(db).finally(close);
}

/** Returns the path of a table's file. */
async function fileOf(db: Database, table: string): Promise<string> {
  const [found] = await rows<{ path: string }>(db, sql`select pg_relation_filepath(${table}::text) as path`);
  return found?.path ?? '';
}

describe('a damaged embedded database', () => {
  let damaged: string;
  let table: string;
  const files = () => readdirSync(damaged, { recursive: true, encoding: 'utf8' }).sort();

  beforeAll(async () => {
    damaged = join(folder, 'damaged');
    cpSync(dataDir, damaged, { recursive: true });
    const { db, close } = await openEmbedded(damaged);
    await createCustomer(db, { customer_number: 'K-KEPT' });
    table = await fileOf(db, 'customers');
    await close();
  });

  test.each([
    ['its version', () => 'PG_VERSION', 'PG_VERSION is missing'],
    ['its control file', () => 'global/pg_control', 'PostgreSQL cannot start'],
    ['its write-ahead log', () => 'pg_wal', 'PostgreSQL cannot start'],
    ['the folder pg_notify', () => 'pg_notify', 'PostgreSQL cannot start'],
    ['the table file of customers', () => table, /^base\/\d+\/\d+ is missing$/],
  ])('an embedded database without %s is refused until the missing part is back', async (_, of, problem) => {
    const [lost, kept] = [join(damaged, 'pglite', of()), join(folder, 'lost')];
    renameSync(lost, kept);
    const before = files();
    const env = parseEnv({ DATA_DIR: damaged });
    const thrown: unknown = await openDatabase(env).catch((error) => error);
    const sentence = /^The embedded database in \S+ is damaged \((.*)\): put back .*npm run restore\.$/;
    const [, reason] = sentence.exec((thrown as Error).message) ?? [];
    expect(reason).toMatch(problem);
    expect(files()).toEqual(expect.arrayContaining(before));
    renameSync(kept, lost);
    const { db, close } = await openDatabase(env);
    expect(await numbersIn(db).finally(close)).toEqual(['K-KEPT']);
  });

  test('an embedded database opens after a crash that lost files of temporary tables', async () => {
    const { db, close } = await openEmbedded(damaged);
    await db.execute(sql`create temporary table passing as select 1 as one`);
    const path = await fileOf(db, 'passing');
    await db.execute(sql`checkpoint`);
    const crashed = join(folder, 'crashed');
    cpSync(join(damaged, 'pglite'), join(crashed, 'pglite'), { recursive: true });
    await close();
    rmSync(join(crashed, 'pglite', path));
    expect(await numbersInFolder(crashed)).toEqual(['K-KEPT']);
  });

  test('a command refuses a database folder without PG_VERSION', async () => {
    const other = join(folder, 'other');
    mkdirSync(join(other, 'pglite/base'), { recursive: true });
    const refused = await runCommandFile('export', ['customers'], { DATA_DIR: other });
    expect(refused).toEqual(refusal(/is damaged \(PG_VERSION is missing\)/));
  });

  test.each<[string, (copy: string) => void]>([
    ['a link to a missing folder', (copy) => symlinkSync(join(copy, 'not-mounted'), join(copy, 'pglite'))],
    [
      'an empty folder beside a reserve file',
      (copy) => {
        mkdirSync(join(copy, 'pglite'));
        writeFileSync(join(copy, 'pglite-reserve'), '');
      },
    ],
    ['a database itself', (copy) => cpSync(join(copy, 'elsewhere'), copy, { recursive: true })],
  ])('no embedded database is created in a DATA_DIR that holds %s', async (_, change) => {
    const copy = mkdtempSync(join(folder, 'copy-'));
    cpSync(join(dataDir, 'pglite'), join(copy, 'elsewhere'), { recursive: true });
    change(copy);
    const before = readdirSync(copy).sort();
    await expect(openDatabase(parseEnv({ DATA_DIR: copy }))).rejects.toThrow(/ is damaged \(/);
    expect(readdirSync(copy).sort()).toEqual(before);
  });

  test('a copied embedded database with the marker of an unfinished creation keeps its rows', async () => {
    const copy = join(folder, 'marked');
    cpSync(damaged, copy, { recursive: true });
    writeFileSync(join(copy, 'pglite-unfinished'), '');
    expect(await numbersInFolder(copy)).toEqual(['K-KEPT']);
  });

  test('an embedded database whose creation was interrupted is created again', async () => {
    const unfinished = join(folder, 'unfinished');
    mkdirSync(join(unfinished, 'pglite/base'), { recursive: true });
    writeFileSync(join(unfinished, 'pglite-unfinished'), '');
    await (await openEmbedded(unfinished)).close();
    expect(readdirSync(unfinished)).toEqual(['pglite']);
  });
});

test.each([
  ['a disk with free files', { files: 1000, ffree: 500 }, 4096],
  ['a disk that can hold no more files', { files: 1000, ffree: 3 }, 0],
  ['a file system without a limit on files', { files: 0, ffree: 0 }, 4096],
])('the usable space of %s (%j) is %d bytes', (_, files, bytes) => {
  expect(usableBytes({ bavail: 2, bsize: 2048, ...files })).toBe(bytes);
});

describe('an embedded database on a small disk', () => {
  const MEGABYTE = 2 ** 20;
  class SmallDisk extends DiskRoom {
    megabytes = 1000;
    override free = () => this.megabytes * MEGABYTE;
  }
  let small: string;
  let disk: SmallDisk;
  let handle: DatabaseHandle;
  const names = () => numbersIn(handle.db);
  const add = (customer_number: string) => createCustomer(handle.db, { customer_number });
  const noRoom = expect.objectContaining({ code: '53100' });

  beforeEach(async () => {
    small = mkdtempSync(join(folder, 'small-'));
    cpSync(dataDir, small, { recursive: true });
    disk = new SmallDisk(small);
    handle = await openEmbedded(small, disk);
    await add('K-FIRST');
    return () => handle.close();
  });

  test('the embedded database refuses writes and rolls back while the disk has less than 32 MB free', async () => {
    disk.megabytes = 31;
    await expect(add('K-SECOND')).rejects.toEqual(noRoom);
    expect(await names()).toEqual(['K-FIRST']);
    disk.megabytes = 33;
    await add('K-THIRD');
    const work = handle.db.transaction(async (tx) => {
      await createCustomer(tx, { customer_number: 'K-FOURTH' });
      disk.megabytes = 31;
      await createCustomer(tx, { customer_number: 'K-FIFTH' });
    });
    await expect(work).rejects.toEqual(noRoom);
    expect(await names()).toEqual(['K-FIRST', 'K-THIRD']);
  });

  test('the embedded database reopens after its write-ahead log ran out of disk space', async () => {
    const transaction = handle.db.transaction(async (tx) => {
      await createCustomer(tx, { customer_number: 'K-SECOND' });
      disk.logFailures += 1;
      await createCustomer(tx, { customer_number: 'K-THIRD' });
    });
    await expect(transaction).rejects.toEqual(noRoom);
    disk.megabytes = 0;
    await expect(names()).rejects.toEqual(noRoom);
    disk.megabytes = 1000;
    expect(await Promise.all([names(), names()])).toEqual([['K-FIRST'], ['K-FIRST']]);
    await add('K-FOURTH');
  });

  test('the reserve file of the embedded database is recreated only with enough free space', () => {
    const reserve = join(small, 'pglite-reserve');
    expect(statSync(reserve)).toMatchObject({ size: 16 * MEGABYTE });
    expect([disk.spendReserve(), disk.spendReserve(), existsSync(reserve)]).toEqual([true, false, false]);
    disk.megabytes = 47;
    disk.keepReserve();
    expect(existsSync(reserve)).toBe(false);
    disk.megabytes = 48;
    disk.keepReserve();
    expect(existsSync(reserve)).toBe(true);
  });

  test('the write-ahead log of the embedded database stays small during many writes', async () => {
    const segments = () =>
      readdirSync(join(small, 'pglite/pg_wal')).filter((name) => /^[\dA-F]{24}$/.test(name));
    for (let written = 0; written < 160; written += 16)
      await handle.db.execute(
        sql`select pg_logical_emit_message(false, 'test', repeat('x', 1000000)) from generate_series(1, 16)`,
      );
    expect(segments().length).toBeLessThan(7);
  });

  test('an embedded database is neither opened nor created without enough disk space', async () => {
    await handle.close();
    disk.spendReserve();
    disk.megabytes = 31;
    await expect(openEmbedded(small, disk)).rejects.toBeInstanceOf(NoRoomError);
    disk.megabytes = 32;
    handle = await openEmbedded(small, disk);
    expect(await names()).toEqual(['K-FIRST']);
    const empty = mkdtempSync(join(folder, 'empty-'));
    const full = new SmallDisk(empty);
    full.megabytes = 79;
    await expect(openEmbedded(empty, full)).rejects.toBeInstanceOf(NoRoomError);
    expect(readdirSync(empty)).toEqual([]);
  });
});
