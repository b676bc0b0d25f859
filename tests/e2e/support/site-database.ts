import { randomUUID } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type DatabaseHandle, openEmbedded, openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { makeDataDir } from '../../support/command-server';
import { onServer } from '../../support/database';
import { withDatabase } from '../../support/database-url';

type Fill = (db: Database) => Promise<void>;

/** The database of a test server. */
export interface SiteDatabase {
  env: Record<string, string>;
  /** Reads the database while the server is idle. An embedded database is read from a copy of its files. */
  look<T>(work: (db: Database) => Promise<T>): Promise<T>;
  /** Writes to the database itself. The server must be down, because an embedded database belongs to one process. */
  write(work: (db: Database) => Promise<void>): Promise<void>;
  drop(): Promise<void>;
}

/** Creates and fills a database for a server, either embedded in its folder or on the tests' PostgreSQL server. */
export async function createDatabase(dataDir: string, fill: Fill): Promise<SiteDatabase> {
  const server = inject('postgres');
  if (!server) {
    await fillFolder(dataDir, fill);
    return inFolder(dataDir);
  }
  const base = await onTestServer(server.url, server.template);
  await base.write(fill);
  return base;
}

/**
 * Fills the template for `copyDatabase`. On a PostgreSQL server, the test run drops the template at its end.
 */
export async function createTemplate(folder: string, fill: Fill): Promise<void> {
  const server = inject('postgres');
  if (!server) return fillFolder(folder, fill);
  await onServer(server.url, `create database ${server.template}_site template ${server.template}`);
  await lookInto(withDatabase(server.url, `${server.template}_site`), fill);
}

/** Copies the template for a server: the files in `folder`, or the template database of the PostgreSQL server. */
export async function copyDatabase(folder: string, dataDir: string): Promise<SiteDatabase> {
  const server = inject('postgres');
  if (server) return onTestServer(server.url, `${server.template}_site`);
  cpSync(folder, dataDir, { recursive: true });
  return inFolder(dataDir);
}

async function fillFolder(dataDir: string, fill: Fill): Promise<void> {
  await workIn(await openEmbedded(await makeDataDir(dataDir)), fill);
}

function inFolder(dataDir: string): SiteDatabase {
  return {
    env: {},
    async look(work) {
      const copy = `${dataDir}-copy`;
      cpSync(join(dataDir, 'pglite'), join(copy, 'pglite'), { recursive: true });
      try {
        return await workIn(await openEmbedded(copy), work);
      } finally {
        rmSync(copy, { recursive: true });
      }
    },
    write: async (work) => workIn(await openEmbedded(dataDir), work),
    drop: async () => {},
  };
}

async function onTestServer(serverUrl: string, template: string): Promise<SiteDatabase> {
  const name = `w5t_e2e_${randomUUID().replaceAll('-', '')}`;
  await onServer(serverUrl, `create database ${name} template ${template}`);
  const url = withDatabase(serverUrl, name);
  return {
    env: { DATABASE_URL: url, BETTER_AUTH_SECRET: randomUUID() },
    look: (work) => lookInto(url, work),
    write: (work) => lookInto(url, work),
    drop: () => onServer(serverUrl, `drop database ${name} with (force)`),
  };
}

const lookInto = <T>(url: string, work: (db: Database) => Promise<T>) => workIn(openPostgres(url), work);

async function workIn<T>(handle: DatabaseHandle, work: (db: Database) => Promise<T>): Promise<T> {
  try {
    return await work(handle.db);
  } finally {
    await handle.close();
  }
}
