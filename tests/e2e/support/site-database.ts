import { randomUUID } from 'node:crypto';
import { cpSync } from 'node:fs';
import { inject } from 'vitest';
import { openEmbedded, openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { makeDataDir } from '../../support/command-server';
import { onServer } from '../../support/database';
import { withDatabase } from '../../support/database-url';

type Fill = (db: Database) => Promise<void>;

/** The database of a server. `look` opens it beside the server if it is shared, else while the server is down. */
export interface SiteDatabase {
  env: Record<string, string>;
  isShared: boolean;
  look<T>(work: (db: Database) => Promise<T>): Promise<T>;
  drop(): Promise<void>;
}

/** A new database for a server, filled: an embedded one in its folder, or one on the tests' own server. */
export async function createDatabase(dataDir: string, fill: Fill): Promise<SiteDatabase> {
  const server = inject('postgres');
  if (!server) {
    await fillFolder(dataDir, fill);
    return inFolder(dataDir);
  }
  const base = await onTestServer(server.url, server.template);
  await base.look(fill);
  return base;
}

/** Fills a database that `copyDatabase` copies. On a server it is dropped with all that the run made. */
export async function createTemplate(folder: string, fill: Fill): Promise<void> {
  const server = inject('postgres');
  if (!server) return fillFolder(folder, fill);
  await onServer(server.url, `create database ${server.template}_site template ${server.template}`);
  await lookInto(withDatabase(server.url, `${server.template}_site`), fill);
}

/** A database for a server that begins as a copy of the template in `folder`. */
export async function copyDatabase(folder: string, dataDir: string): Promise<SiteDatabase> {
  const server = inject('postgres');
  if (server) return onTestServer(server.url, `${server.template}_site`);
  cpSync(folder, dataDir, { recursive: true });
  return inFolder(dataDir);
}

async function fillFolder(dataDir: string, fill: Fill): Promise<void> {
  const handle = await openEmbedded(await makeDataDir(dataDir));
  await fill(handle.db);
  await handle.close();
}

function inFolder(dataDir: string): SiteDatabase {
  return {
    env: {},
    isShared: false,
    async look(work) {
      const handle = await openEmbedded(dataDir);
      try {
        return await work(handle.db);
      } finally {
        await handle.close();
      }
    },
    drop: async () => {},
  };
}

async function onTestServer(serverUrl: string, template: string): Promise<SiteDatabase> {
  const name = `w5t_e2e_${randomUUID().replaceAll('-', '')}`;
  await onServer(serverUrl, `create database ${name} template ${template}`);
  const url = withDatabase(serverUrl, name);
  return {
    env: { DATABASE_URL: url, BETTER_AUTH_SECRET: randomUUID() },
    isShared: true,
    look: (work) => lookInto(url, work),
    drop: () => onServer(serverUrl, `drop database ${name} with (force)`),
  };
}

async function lookInto<T>(url: string, work: (db: Database) => Promise<T>): Promise<T> {
  const handle = openPostgres(url);
  try {
    return await work(handle.db);
  } finally {
    await handle.close();
  }
}
