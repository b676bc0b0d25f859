import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A new folder for the tests of a file, removed after them. */
export function temporaryDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'w5t-test-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}
