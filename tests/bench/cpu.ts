import { existsSync, readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';

/** Milliseconds of a processor that a process has used: fields 14 and 15 of proc(5)'s stat, in hundredths of a second. */
export function cpuMsOf(pid: number | undefined): number {
  const fields = readProcess(pid, 'stat').split(') ')[1] ?? '';
  const [user = Number.NaN, system = Number.NaN] = fields.split(' ').slice(11, 13).map(Number);
  return (user + system) * 10;
}

/** The same of each process that serves a connection to a database but the one that asks; none where they run elsewhere. */
export async function databaseCpu(db: Database): Promise<Map<number, number>> {
  const found = await rows<{ pid: number }>(
    db,
    sql`select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  const local = found.filter(({ pid }) => readProcess(pid, 'comm').trim() === 'postgres');
  return new Map(local.map(({ pid }) => [pid, cpuMsOf(pid)]));
}

/** What those processes used in between; NaN where none of them runs here. */
export function spentBetween(before: Map<number, number>, after: Map<number, number>): number {
  if (after.size === 0) return Number.NaN;
  return [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
}

function readProcess(pid: number | undefined, name: string): string {
  const file = `/proc/${pid}/${name}`;
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
