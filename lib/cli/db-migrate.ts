import { openPostgres } from '@/db/client';
import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { migrate } from '@/db/migrate';
import { readEnv } from '../env';
import { StartError } from '../errors';
import { openDatabase } from '../runtime';
import { runCommand } from './run-command';

// Class 28 is a refused user or password, 3D a database that is not there, 42501 a missing right.
const REFUSED = /^(28...|3D000|42501)$/;

runCommand(async () => {
  const env = readEnv();
  if (env.databaseUrl) {
    await migrateServer(env.databaseUrl);
    console.log('The database of DATABASE_URL is up to date.');
  } else {
    const handle = await openDatabase(env); // opening the embedded database migrates it
    await handle.close();
    console.log(`The embedded database in ${env.dataDir} is up to date.`);
  }
});

async function migrateServer(url: string): Promise<void> {
  const handle = openPostgres(url, { max: 1, unhurried: true });
  try {
    await migrate(handle);
  } catch (error) {
    if (isDatabaseUnavailable(error)) {
      throw new StartError([
        'The database of DATABASE_URL does not answer: start it, or correct its address.',
      ]);
    }
    if (REFUSED.test(pgErrorCode(error) ?? '')) {
      throw new StartError(['The database of DATABASE_URL refused us: check its user, password and name.']);
    }
    throw error;
  } finally {
    await handle.close();
  }
}
