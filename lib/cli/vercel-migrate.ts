import { readArguments } from '../commands/command';
import { DATABASE_VARIABLES, readEnv } from '../env';
import { inheritedEnv } from '../inherited-env';
import { migrateServer } from '../open-database';
import { runProgram } from './program';

const USAGE = [
  'Usage: npm run vercel-build',
  'The build command of Vercel: runs next build, then migrates the database if VERCEL_ENV is production.',
];

/** Migrate production only. A preview may share its database with code that does not know the preview's migrations. */
runProgram(async (args) => {
  readArguments(args, { usage: USAGE });
  if (inheritedEnv().VERCEL_ENV !== 'production') {
    return console.log('This is not a production build: the database was not migrated.');
  }
  await migrateServer(readEnv([...DATABASE_VARIABLES, 'VERCEL']));
  console.log('The database of DATABASE_URL is up to date.');
});
