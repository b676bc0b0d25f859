import {
  isCursorGone,
  type ListRequest,
  listProviderDisputes,
  listProviderInvoices,
  listProviderRefunds,
  listProviderSubscriptions,
  type ProviderPage,
} from '../../../stripe/list';
import { applyObject, keysOfProvided, type Provided } from '../../decide/apply-object';
import { type Answers, Draft, type WantedKind } from '../../decide/draft';
import type { Ordered } from '../../decide/order';
import { isEmpty, toPlan } from '../../decide/plan';
import { uniteKeys } from '../../store/keys';
import type { SyncDeps } from '../../sync-deps';
import { settingsOf, storeOf } from '../../synchronize';
import { guarded } from '../failures';
import type { Run } from '../lease';
import type { StripeDeps } from '../step';
import { applyListed } from '../sync-object';
import { markSeen, unmet } from './seen';

type Read = (deps: StripeDeps, request: ListRequest) => Promise<ProviderPage<Provided['value']>>;

const READ: Record<Ordered, Read> = {
  subscription: ({ stripe, now }, request) => listProviderSubscriptions(stripe, now, request),
  invoice: ({ stripe, now }, request) => listProviderInvoices(stripe, now, request),
  refund: ({ stripe, now }, request) => listProviderRefunds(stripe, now, request),
  dispute: ({ stripe, now }, request) => listProviderDisputes(stripe, now, request),
};

/** @returns where the next page begins; null at the end; empty where the list must begin again */
export async function reconcilePage(
  kind: Ordered,
  deps: StripeDeps,
  run: Run,
  filter: Pick<ListRequest, 'status' | 'createdFrom'>,
  after: string | null,
): Promise<string | null> {
  const page = await fromStart(after, (cursor) => READ[kind](deps, { ...filter, after: cursor }));
  if (!page) return '';
  for (const { id, error } of page.refused) {
    await guarded(deps, run, kind, id, () => Promise.reject(error));
  }
  const unseen = (await unmet(deps, run, page.objects)).map((value) => ({ kind, value }) as Provided);
  const done = await findInSync(deps, unseen, page.asOf);
  for (const object of unseen) {
    if (done.has(object)) run.counts.objects_checked += 1;
    else {
      await guarded(deps, run, kind, object.value.id, () => applyListed(deps, run, object, page.asOf));
    }
  }
  await markSeen(
    deps,
    run,
    unseen.map(({ value }) => value),
  );
  return page.next;
}

/** The customer was asked about when it was reported. A list that repeats it is no reason to ask again. */
const ANSWERS = ((kind: WantedKind) =>
  kind === 'customer' ? { state: 'unavailable', reason: 'no_api_key' } : undefined) as Answers;

export async function findInSync(deps: SyncDeps, objects: Provided[], asOf: Date): Promise<Set<Provided>> {
  const store = storeOf(deps);
  const settings = settingsOf(deps);
  let keys = uniteKeys(objects.map(keysOfProvided));
  for (let reads = 1; ; reads += 1) {
    const snapshot = await store.read(keys);
    const drafts = objects.map((object) => {
      const draft = new Draft(snapshot, settings, ANSWERS);
      applyObject(draft, object, { origin: 'listed', asOf });
      return draft;
    });
    const isDone = drafts.every(({ isMissing }) => !isMissing) || reads === MOST_READS;
    if (isDone) return new Set(objects.filter((_, i) => changesNothing(drafts[i])));
    keys = uniteKeys([keys, ...drafts.map(({ missing }) => missing)]);
  }
}

const MOST_READS = 3;

const changesNothing = (draft: Draft | undefined) =>
  draft !== undefined && !draft.isIncomplete && !draft.unreported && isEmpty(toPlan(draft));

async function fromStart<T>(
  after: string | null,
  read: (after: string | null) => Promise<T>,
): Promise<T | null> {
  try {
    return await read(after === '' ? null : after);
  } catch (error) {
    if (after && isCursorGone(error)) return null;
    throw error;
  }
}
