import { DISK_FULL } from './database';
import { perProcess } from './per-process';

/** The table whose row found no room; undefined: there is room. */
const disk = perProcess<{ lackedBy?: string | undefined }>('disk-full', () => ({}));

const INSERTED = /\binsert\s+into\s+"?(\w+)/gi;

/** Notes a statement for which the database found no room on its disk. */
export function noteNoRoom(statement: string, code: string): void {
  if (code === DISK_FULL) disk.lackedBy ??= insertedInto(statement)[0] ?? '';
}

/** Notes that there is room again. */
export function forgetNoRoom(): void {
  disk.lackedBy = undefined;
}

/** Notes that there was room again. A row changed in its place proves nothing: it takes a new one of that table. */
export function noteRoom(statement: string): void {
  const table = disk.lackedBy;
  if (table === undefined) return;
  const tables = insertedInto(statement);
  if (table === '' ? tables.length > 0 : tables.includes(table)) forgetNoRoom();
}

/** True from a write that found no room until one finds some. */
export function isDiskFull(): boolean {
  return disk.lackedBy !== undefined;
}

function insertedInto(statement: string): string[] {
  return [...statement.matchAll(INSERTED)].map(([, table = '']) => table);
}
