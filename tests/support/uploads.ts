import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A DATA_DIR of a test file's own. */
export function temporaryDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'w5t-uploads-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
  return dataDir;
}

/** A body that arrives in these pieces. */
export async function* bodyOf(...pieces: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}
