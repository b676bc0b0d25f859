import { test } from 'vitest';
import { useDatabase } from '../support/database';
import { checkHistories } from './check-history';
import { openStage } from './database-stage';

const base = useDatabase();

/** On the database in memory, concurrent deliveries take turns. On PostgreSQL, they really race. */
test('150 simulated histories in a database end with the rows that Stripe’s data implies', async () => {
  const stage = await openStage({ db: base.db, close: async () => {} });
  try {
    await checkHistories(stage, 20260315, 150, '');
  } finally {
    await stage.close();
  }
}, 1_800_000);
