import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import type { TestProject } from 'vitest/node';
import { openInMemory, openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { migrate } from '@/db/migrate';
import { withDatabase } from './database-url';
import { ensureBuild } from './next-build';
import { startPooler } from './pooler';

/** Migrates one database. Workers and tests that need their own database copy it. */
export default async function setup(project: TestProject) {
  // Build here, because a hook that opens Next would reach its time limit during the build.
  if (process.env.TEST_THROUGH === 'next') await ensureBuild();
  const folder = mkdtempSync(join(tmpdir(), 'w5t-test-'));
  const url = process.env.TEST_DATABASE_URL;
  project.provide('pgliteImage', join(folder, 'image.tar'));
  if (!url) {
    project.provide('postgres', null);
    project.provide('migratedRows', await makeImage(join(folder, 'image.tar')));
    return () => rmSync(folder, { recursive: true, force: true });
  }
  const template = `w5t_template_${process.pid}`;
  // With TEST_POOLER=1, tests reach their databases through PgBouncer in transaction mode.
  const pooler = process.env.TEST_POOLER ? await startPooler(url) : null;
  project.provide('migratedRows', await makeTemplate(url, template));
  project.provide('postgres', { url, template, pooler: pooler?.url ?? null });
  return async () => {
    rmSync(folder, { recursive: true, force: true });
    await pooler?.stop();
    await dropAll(url, template);
  };
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
