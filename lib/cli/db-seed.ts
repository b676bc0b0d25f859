import { hasCustomers, seedDatabase } from '@/db/seed';
import { toCalendarDate } from '../dates';
import { StartError } from '../errors';
import { worldOf } from '../runtime';
import { runCommand } from './run-command';
import { withDatabase } from './with-database';

runCommand(() =>
  withDatabase(async ({ db }, env) => {
    if (await hasCustomers(db)) {
      throw new StartError([
        'The database already holds customers: sample data goes into an empty one only.',
      ]);
    }
    const today = toCalendarDate(worldOf(env).now(), env.timeZone);
    const counts = await seedDatabase(db, { today, timeZone: env.timeZone });
    for (const [table, count] of Object.entries(counts)) console.log(`${table}: ${count}`);
  }),
);
