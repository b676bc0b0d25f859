import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import type { DatabaseHandle } from '@/db/client';
import type { Database } from '@/db/database';
import { createTestDatabase } from './database';
import { runCommandHere } from './run-command';

/** Two empty databases for the tests of a describe block, and a folder in which commands are run. */
export function useTwoDatabases() {
  const handles: DatabaseHandle[] = [];
  let folder = '';
  beforeAll(async () => {
    handles.push(await createTestDatabase(), await createTestDatabase());
    folder = mkdtempSync(join(tmpdir(), 'w5t-two-'));
  });
  afterAll(async () => {
    for (const handle of handles) await handle.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });
  const dbOf = (place: number): Database => {
    const handle = handles[place];
    if (!handle) throw new Error('the databases are open only inside tests');
    return handle.db;
  };
  return {
    get from() {
      return dbOf(0);
    },
    get to() {
      return dbOf(1);
    },
    read: (name: string) => readFileSync(join(folder, name), 'utf8'),
    /** Runs a command where the files are. @returns what it printed */
    async run(db: Database, name: 'import' | 'export', args: string[]): Promise<string[]> {
      const { code, said } = await runCommandHere(db, name, args, { cwd: folder });
      expect(code, said.join('\n')).toBe(0);
      return said;
    },
  };
}
