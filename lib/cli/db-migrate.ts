import { openPostgres } from '@/db/client';
import { migrate } from '@/db/migrate';
import { readEnv } from '../env';
import { openDatabase, tryServer } from '../runtime';
import { runCommand } from './run-command';

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
  await tryServer(handle, () => migrate(handle));
  await handle.close();
}
