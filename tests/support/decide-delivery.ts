import { toProviderEvent } from '@/lib/stripe/to-event';
import type { Draft } from '@/lib/sync/decide/draft';
import { decideDelivery, keysOfDelivery } from '@/lib/sync/inbox/delivery';
import type { Commit } from '@/lib/sync/store/committed';
import { read } from '@/lib/sync/store/read';
import { syncDeps } from '@/lib/sync/sync-deps';
import { Inquiry, readAndDecide } from '@/lib/sync/sync-loop';
import { settingsOf } from '@/lib/sync/synchronize';
import type { TestRuntime } from './runtime';

/** What a delivery would commit, decided now and without asking Stripe. */
export async function decideAlone(runtime: TestRuntime, payload: string): Promise<Commit> {
  const event = toProviderEvent(JSON.parse(payload));
  if (!event) throw new Error('this is no event');
  const delivery = { event, payload, expectedMode: null, again: false };
  const question = {
    settings: settingsOf(syncDeps(runtime)),
    keys: keysOfDelivery(delivery),
    decide: (draft: Draft) => decideDelivery(draft, delivery),
  };
  const decided = await readAndDecide((keys) => read(runtime.db, keys), question, new Inquiry(false));
  if ('wanted' in decided) throw new Error('Stripe is not there to be asked');
  const { plan, result } = decided;
  return { plan, events: result.entry ? [result.entry] : [], runId: null };
}
