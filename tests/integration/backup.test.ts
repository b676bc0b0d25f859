import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbedded } from '@/db/client';
import { rows } from '@/db/database';
import { migrate } from '@/db/migrate';
import { runCommandFile, startCommandServer } from '../support/command-server';
import { createInvoice, createPayment } from '../support/factories';

const base = mkdtempSync(join(tmpdir(), 'w5t-backup-'));
const at = (name: string) => join(base, name);
const DATA_DIR = at('data');
const CONTENTS = sql`select (select count(*)::int from payments) as payments, (select max(number) from invoices) as number,
  (select sum(row_count)::int from invoice_blocks) as counted`;

const backup = (file: string, env: Record<string, string> = { DATA_DIR }) =>
  runCommandFile('backup', [file], env);
const restore = (file: string, dataDir: string) => runCommandFile('restore', [file], { DATA_DIR: dataDir });

async function contentsOf(dataDir: string) {
  const { db, close } = await openEmbedded(dataDir);
  return rows(db, CONTENTS).finally(close);
}

beforeAll(async () => {
  const handle = await openEmbedded(DATA_DIR);
  await migrate(handle);
  const { id, customer_id } = await createInvoice(handle.db, { number: 'B-1' });
  await createPayment(handle.db, { invoice_id: id, customer_id });
  await handle.close();
}, 60_000);
afterAll(() => rmSync(base, { recursive: true, force: true }));

test('a backup is restored into an empty folder, and nowhere else', async () => {
  expect(await backup(at('one.tgz'))).toMatchObject({ code: 0, err: '' });
  expect(statSync(at('one.tgz')).mode & 0o777).toBe(0o600);
  expect(await backup(at('one.tgz'))).toMatchObject({ code: 1, err: `${at('one.tgz')} is there already.\n` });
  expect(await restore(at('one.tgz'), at('two'))).toEqual({
    code: 0,
    out: `Restored into ${at('two')}.\n`,
    err: '',
  });
  expect(await contentsOf(at('two'))).toEqual(await contentsOf(DATA_DIR));
  expect(await restore(at('one.tgz'), at('two'))).toMatchObject({
    code: 1,
    err: `There is a database in ${at('two')} already: give an empty DATA_DIR.\n`,
  });
}, 120_000);

test('while a server has the database open, the server writes it', async () => {
  const server = await startCommandServer(DATA_DIR);
  try {
    expect(await backup(at('served.tgz'))).toMatchObject({ code: 0, err: '' });
    expect(await restore(at('served.tgz'), DATA_DIR)).toMatchObject({ code: 1 });
  } finally {
    await server.stop();
  }
  expect(await restore(at('served.tgz'), at('three'))).toMatchObject({ code: 0 });
  expect(await contentsOf(at('three'))).toEqual(await contentsOf(DATA_DIR));
}, 120_000);

test('what cannot be backed up or restored is a sentence, and leaves nothing', async () => {
  const broken = at('broken.tgz');
  writeFileSync(broken, readFileSync(at('one.tgz')));
  truncateSync(broken, 100_000);
  writeFileSync(at('no.tgz'), 'no backup');
  for (const file of [broken, at('no.tgz')]) {
    expect(await restore(file, at('four'))).toEqual({
      code: 1,
      out: '',
      err: `${file} is no whole backup.\n`,
    });
  }
  expect(await restore(at('none.tgz'), at('four'))).toMatchObject({
    err: `${at('none.tgz')} does not exist.\n`,
  });
  expect(await restore(at('one.tgz'), at('four'))).toMatchObject({ code: 0 });
  expect(await backup(join(base, 'no/where.tgz'))).toMatchObject({
    err: `${join(base, 'no/where.tgz')} does not exist.\n`,
  });
  const DATABASE_URL = 'postgres://nobody@127.0.0.1:1/none';
  expect(await runCommandFile('restore', [broken], { DATABASE_URL })).toMatchObject({
    err: 'DATABASE_URL is set: restore that database with pg_restore.\n',
  });
}, 120_000);
