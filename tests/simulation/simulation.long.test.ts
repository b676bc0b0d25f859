import { test } from 'vitest';
import { useDatabase } from '../support/database';
import { checkHistories } from './check-history';
import { openStage } from './database-stage';

const base = useDatabase();

/** In memory deliveries are told apart by their order only. On PostgreSQL deliveries at once race for real. */
test('three hundred histories over a database end with the tables equal to what Stripe has', async () => {
  const stage = await openStage({ db: base.db, close: async () => {} });
  try {
    await checkHistories(stage, 20260315, 300, '');
  } finally {
    await stage.close();
  }
}, 1_800_000);
