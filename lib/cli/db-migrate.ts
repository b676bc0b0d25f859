import { readEnv } from '../env';
import { migrateServer } from '../open-server';
import { openDatabase } from '../runtime';
import { runCommand } from './run-command';

runCommand(async () => {
  const env = readEnv();
  if (env.databaseUrl) {
    await migrateServer(env);
    console.log('The database of DATABASE_URL is up to date.');
  } else {
    const handle = await openDatabase(env); // opening the embedded database migrates it
    await handle.close();
    console.log(`The embedded database in ${env.dataDir} is up to date.`);
  }
});
