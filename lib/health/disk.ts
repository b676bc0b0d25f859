import { statfs } from 'node:fs/promises';
import { isDiskFull } from '@/db/disk-full';
import type { Env } from '../env';

/** Full: a write found no room. Low: the embedded database's disk has less left than configured. */
export type Disk = 'ok' | 'low' | 'full';

export async function checkDisk({
  databaseUrl,
  dataDir,
  alerts,
}: Pick<Env, 'databaseUrl' | 'dataDir' | 'alerts'>): Promise<Disk> {
  if (isDiskFull()) return 'full';
  if (databaseUrl) return 'ok'; // its disk is another machine's
  const left = await bytesLeft(dataDir);
  return left !== null && left < alerts.diskMb * 1_000_000 ? 'low' : 'ok';
}

/** Null where there is no such folder: the database is in memory. */
async function bytesLeft(folder: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
