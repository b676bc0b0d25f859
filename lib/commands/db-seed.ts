import { hasCustomers, seedDatabase } from '@/db/seed';
import { toCalendarDate } from '../dates';
import { DATABASE_VARIABLES } from '../env-variables';
import { StartError } from '../errors';
import { command } from './command';
import { readArguments } from './read-arguments';

const USAGE = ['Usage: npm run db:seed', 'Fills an empty database with sample data.'];

/** Sample data for an empty database. */
export const dbSeed = command<void>({
  usage: USAGE,
  variables: [...DATABASE_VARIABLES, 'APP_TIMEZONE'],
  read: (args) => void readArguments(args, { usage: USAGE }),
  async run(_wanted, { db, env, now }, { print }) {
    if (await hasCustomers(db)) {
      throw new StartError([
        'The database already holds customers: sample data goes into an empty one only.',
      ]);
    }
    const today = toCalendarDate(now(), env.timeZone);
    const counts = await seedDatabase(db, { today, timeZone: env.timeZone });
    for (const [table, count] of Object.entries(counts)) print(`${table}: ${count}`);
    return 0;
  },
});
