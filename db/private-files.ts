import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Permissions of everybody but the owner. */
const OTHERS = 0o077;
/** Our own entries of DATA_DIR. An operator may have chosen a folder that also holds other things. */
const OURS = /^(pglite|lock\.json|demo\.json|better-auth-secret|stripe-local)/;

/**
 * Makes DATA_DIR and our entries in it accessible to their owner only. Entries of another user are left as they are,
 * since only that user can change them.
 */
export function keepPrivate(dataDir: string): void {
  restrict(dataDir);
  for (const name of readdirSync(dataDir)) {
    if (OURS.test(name)) restrictTree(join(dataDir, name));
  }
}

function restrictTree(path: string): void {
  if (!restrict(path)) return;
  for (const name of readdirSync(path)) restrictTree(join(path, name));
}

/** @returns whether it is a folder */
function restrict(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || found.isSymbolicLink()) return false;
  const isMine = process.getuid === undefined || [0, found.uid].includes(process.getuid());
  if (isMine && (found.mode & OTHERS) !== 0) chmodSync(path, found.mode & ~OTHERS & 0o7777);
  return found.isDirectory();
}
