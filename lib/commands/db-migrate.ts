import { DATABASE_VARIABLES } from '../env';
import { migrateServer } from '../open-server';
import { command } from './command';
import { readArguments } from './read-arguments';

const USAGE = ['Usage: npm run db:migrate', 'Brings the database to this version.'];

/** Brings the database to this version: done already where a runtime could be had. */
export const dbMigrate = command<void>({
  usage: USAGE,
  variables: [...DATABASE_VARIABLES, 'VERCEL'],
  read: (args) => void readArguments(args, { usage: USAGE }),
  prepare: migrateServer,
  async run(_wanted, { env }, { print }) {
    print(
      env.databaseUrl
        ? 'The database of DATABASE_URL is up to date.'
        : `The embedded database in ${env.dataDir} is up to date.`,
    );
    return 0;
  },
});
