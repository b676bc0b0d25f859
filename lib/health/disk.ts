import { sql } from 'drizzle-orm';
import { type Database, pgErrorCode } from '@/db/database';
import { forgetNoRoom, isDiskFull } from '@/db/disk-full';
import { bytesFree, hasWriteRoom } from '@/db/disk-room';
import type { Env } from '../env';

/** Full: writes find no room. Low: the embedded database's disk has less left than configured. */
export type Disk = 'ok' | 'low' | 'full';

export async function checkDisk(
  db: Database,
  { databaseUrl, dataDir, alerts }: Pick<Env, 'databaseUrl' | 'dataDir' | 'alerts'>,
): Promise<Disk> {
  const isMeasured = !databaseUrl; // a server's disk belongs to another machine
  if (isMeasured && !hasWriteRoom(dataDir)) return 'full';
  if (isDiskFull() && !(await findsRoom(db))) return 'full';
  const left = isMeasured ? bytesFree(dataDir) : null;
  return left !== null && left < alerts.diskMb * 1_000_000 ? 'low' : 'ok';
}

/** Tries to write a megabyte: the table that found no room may not be written again for weeks. */
async function findsRoom(db: Database): Promise<boolean> {
  try {
    await db.transaction((tx) =>
      tx.execute(
        sql`create temporary table room_found on commit drop as select * from generate_series(1, 30000)`,
      ),
    );
  } catch (error) {
    if (pgErrorCode(error) === undefined) throw error;
    return false;
  }
  forgetNoRoom();
  return true;
}
