import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { openInMemory, openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { migrate } from '@/db/migrate';
import { perProcess } from '@/db/per-process';
import { withDatabase } from './database-url';
import { ensureBuild } from './next-build';
import { startPooler } from './pooler';

type Prepared = Pick<ProvidedContext, 'pgliteImage' | 'migratedRows' | 'postgres'> & {
  close(): Promise<void>;
};

/** What all projects of a run use. Vitest loads this file and calls the setup once per project. */
const run = perProcess('test-setup', () => ({ prepared: undefined as Promise<Prepared> | undefined }));

/** Provides a migrated database. Workers and tests that need their own database copy it. */
export default async function setup(project: TestProject) {
  // Build here, because a hook that opens Next would reach its time limit during the build.
  if (process.env.TEST_THROUGH === 'next') await ensureBuild();
  run.prepared ??= prepare();
  const { close, ...provided } = await run.prepared;
  for (const [name, value] of Object.entries(provided)) project.provide(name as keyof typeof provided, value);
  return async () => {
    if (run.prepared) await close();
    run.prepared = undefined;
  };
}

async function prepare(): Promise<Prepared> {
  const folder = mkdtempSync(join(tmpdir(), 'w5t-test-'));
  const url = process.env.TEST_DATABASE_URL;
  const pgliteImage = join(folder, 'image.tar');
  if (!url) {
    const migratedRows = await makeImage(pgliteImage);
    const close = async () => rmSync(folder, { recursive: true, force: true });
    return { pgliteImage, migratedRows, postgres: null, close };
  }
  const template = `w5t_template_${process.pid}`;
  // With TEST_POOLER=1, tests reach their databases through PgBouncer in transaction mode.
  const pooler = process.env.TEST_POOLER ? await startPooler(url) : null;
  const migratedRows = await makeTemplate(url, template);
  const close = async () => {
    rmSync(folder, { recursive: true, force: true });
    await pooler?.stop();
    await dropAll(url, template);
  };
  return { pgliteImage, migratedRows, postgres: { url, template, pooler: pooler?.url ?? null }, close };
}

async function makeImage(file: string): Promise<[string, string][]> {
  const handle = await openInMemory();
  await migrate(handle);
  const image = await handle.client.dumpDataDir('none');
  await writeFile(file, new Uint8Array(await image.arrayBuffer()));
  const migrated = await readRows(handle.db);
  await handle.close();
  return migrated;
}

async function makeTemplate(url: string, name: string): Promise<[string, string][]> {
  const admin = openPostgres(url, { max: 1 });
  await admin.db.execute(sql.raw(`create database ${name}`));
  await admin.close();
  const handle = openPostgres(withDatabase(url, name), { max: 1 });
  await migrate(handle);
  const migrated = await readRows(handle.db);
  await handle.close();
  return migrated;
}

/** Reads the rows that migrations inserted, by table. */
async function readRows(db: Database): Promise<[string, string][]> {
  const tables = await rows<{ name: string }>(
    db,
    sql`select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  );
  const found: [string, string][] = [];
  for (const { name } of tables) {
    const [all] = await rows<{ json: string | null }>(
      db,
      sql.raw(`select json_agg(t)::text as json from ${name} t`),
    );
    if (all?.json) found.push([name, all.json]);
  }
  return found;
}

/** Drops the template and all databases made from it. */
async function dropAll(url: string, template: string): Promise<void> {
  const admin = openPostgres(url, { max: 1 });
  const made = await rows<{ name: string }>(
    admin.db,
    sql`select datname as name from pg_database where starts_with(datname, ${template})`,
  );
  for (const { name } of made) await admin.db.execute(sql.raw(`drop database ${name} with (force)`));
  await admin.close();
}
