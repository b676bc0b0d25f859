import { limitRole } from '@/db/limits';
import { DATABASE_VARIABLES } from '../env-variables';
import { StartError } from '../errors';
import { migrateServer } from '../open-server';
import { command } from './command';
import { readArguments } from './read-arguments';

const USAGE = [
  'Usage: npm run db:migrate [-- --role-limits]',
  'Brings the database to this version.',
  '--role-limits also ends what the role of DATABASE_URL does for too long there (alter role … set statement_timeout):',
  'run it once for each role and database, with a pooler or without, since connections are given no limits.',
];

/** Brings the database to this version: done already where a runtime could be had. */
export const dbMigrate = command<{ roleLimits: boolean }>({
  usage: USAGE,
  variables: [...DATABASE_VARIABLES, 'VERCEL'],
  read(args) {
    const { values } = readArguments(args, { usage: USAGE, options: { 'role-limits': { type: 'boolean' } } });
    return { roleLimits: values['role-limits'] ?? false };
  },
  prepare: migrateServer,
  async run({ roleLimits }, { db, env }, { print }) {
    if (roleLimits && !env.databaseUrl) {
      throw new StartError(['--role-limits is for a role of PostgreSQL: set DATABASE_URL.']);
    }
    if (roleLimits) await limitRole(db);
    print(
      env.databaseUrl
        ? 'The database of DATABASE_URL is up to date.'
        : `The embedded database in ${env.dataDir} is up to date.`,
    );
    if (roleLimits) print('Its role has limits of time from its next connection on.');
    return 0;
  },
});
