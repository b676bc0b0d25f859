import { hasCustomers, seedDatabase } from '@/db/seed';
import { limitRole } from '@/db/transaction';
import { recountLists } from '../counted-list/check-counts';
import { toCalendarDate } from '../dates';
import { DATABASE_VARIABLES } from '../env';
import { StartError } from '../errors';
import { migrateServer } from '../open-database';
import { command, FLAG } from './command';

/** Migrates the database. `prepare` migrates a database server. Opening an embedded database migrates it. */
export const dbMigrate = command({
  usage: [
    'Usage: npm run db:migrate [-- --role-limits]',
    'Migrates the database to this version.',
    '--role-limits also sets time limits for the role of DATABASE_URL (alter role … set statement_timeout). Run it once',
    'for each role and database, with or without a pooler, because connections set no limits of their own.',
  ],
  variables: [...DATABASE_VARIABLES, 'VERCEL'],
  options: { 'role-limits': FLAG },
  prepare: migrateServer,
  async run({ 'role-limits': roleLimits }, { db, env }, { print }) {
    if (roleLimits && !env.databaseUrl) {
      throw new StartError(['--role-limits needs a role of PostgreSQL: set DATABASE_URL.']);
    }
    if (roleLimits) await limitRole(db);
    print(
      env.databaseUrl
        ? 'The database of DATABASE_URL is up to date.'
        : `The embedded database in ${env.dataDir} is up to date.`,
    );
    if (roleLimits) print('The time limits of its role apply from the next connection on.');
    return 0;
  },
});

const MAX_SHOWN = 20;

/** Recounts all lists, sums and receivables, and prints the errors that it corrected, at most `MAX_SHOWN` for each. */
export const dbRecount = command({
  usage: [
    'Usage: npm run db:recount',
    'Recounts the rows of all lists, recalculates the sums of the overview, and prints the corrections.',
  ],
  variables: DATABASE_VARIABLES,
  async run(_wanted, { db }, { print }) {
    for await (const { list, wrong } of recountLists(db)) {
      const name = list.replace('_', ' ').replace(/s?$/, 's');
      print(`${name}: ${wrong.length === 0 ? 'right' : `recounted, ${wrong.length} wrong`}`);
      for (const { block, kind, excess } of wrong.slice(0, MAX_SHOWN)) {
        const isSum = list.endsWith('sums') || list === 'receivables';
        const [more, less] = isSum ? ['much', 'little'] : ['many', 'few'];
        const error = `${Math.abs(excess)} too ${excess > 0 ? more : less}`;
        print(`  from ${isFirst(block) ? 'the first' : block}${kind && `, ${kind}`}: ${error}`);
      }
      if (wrong.length > MAX_SHOWN) print(`  … and ${wrong.length - MAX_SHOWN} more`);
    }
    return 0;
  },
});

const isFirst = (block: string) => block === '' || block.startsWith('-infinity');

export const dbSeed = command({
  usage: ['Usage: npm run db:seed', 'Fills an empty database with sample data.'],
  variables: [...DATABASE_VARIABLES, 'APP_TIMEZONE'],
  async run(_wanted, { db, env, now }, { print }) {
    if (await hasCustomers(db)) {
      throw new StartError([
        'The database already contains customers: use an empty database for sample data.',
      ]);
    }
    const today = toCalendarDate(now(), env.timeZone);
    const counts = await seedDatabase(db, { today, timeZone: env.timeZone });
    for (const [table, count] of Object.entries(counts)) print(`${table}: ${count}`);
    return 0;
  },
});
