import { checkCounts } from '../../../counted-list/check-counts';
import type { SyncDeps } from '../../sync-deps';

/** One block of each list is counted: an alert tells where the counts are wrong. */
export async function checkLists({ db, log }: SyncDeps): Promise<null> {
  const wrong = await checkCounts(db);
  if (wrong.length > 0) log.error({ lists: wrong }, 'counts of lists are wrong');
  return null;
}
