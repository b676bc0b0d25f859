import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import type { TestProject } from 'vitest/node';
import { openInMemory, openPostgres } from '@/db/client';
import { migrate } from '@/db/migrate';
import { withDatabase } from './database-url';
import { startPooler } from './pooler';

/** Migrates once; every test file copies the result. */
export default async function setup(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'w5t-test-'));
  const url = process.env.TEST_DATABASE_URL;
  project.provide('pgliteImage', url ? '' : await migratedImage(join(folder, 'image.tar')));
  const template = url ? `w5t_template_${process.pid}` : '';
  // TEST_POOLER=1: databases are used through PgBouncer in transaction mode.
  const pooler = url && process.env.TEST_POOLER ? await startPooler(url) : null;
  const server = url && { url, template: await migratedTemplate(url, template), pooler: pooler?.url ?? null };
  project.provide('postgres', server || null);
  return async () => {
    rmSync(folder, { recursive: true, force: true });
    await pooler?.stop();
    if (url) await onServer(url, `drop database ${template} with (force)`);
  };
}

async function migratedImage(file: string): Promise<string> {
  const handle = await openInMemory();
  await migrate(handle);
  const image = await handle.client.dumpDataDir('none');
  await writeFile(file, new Uint8Array(await image.arrayBuffer()));
  await handle.close();
  return file;
}

async function migratedTemplate(url: string, name: string): Promise<string> {
  await onServer(url, `create database ${name}`);
  const handle = openPostgres(withDatabase(url, name), { max: 1 });
  await migrate(handle);
  await handle.close();
  return name;
}

async function onServer(url: string, statement: string): Promise<void> {
  const admin = openPostgres(url, { max: 1 });
  await admin.db.execute(sql.raw(statement));
  await admin.close();
}
