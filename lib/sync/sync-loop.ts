import type { Fetched } from '../stripe/fetch';
import { type Answers, Draft, type Settings, type Wanted, type WantedKind } from './decide/draft';
import { type Plan, toPlan } from './decide/plan';
import { type Keys, mergeKeys } from './store/keys';
import type { Snapshot } from './store/snapshot';

/** How often at most one decision asks Stripe, and has a snapshot read anew with more keys. */
const MOST_FETCHES = 4;
const MOST_READS = 8;

export class NotReportedError extends Error {
  override readonly name = 'NotReportedError';
  constructor(
    what: string,
    /** Short, for tables. */
    readonly reason: string,
  ) {
    super(`Stripe did not tell ${what}`);
  }
}

export interface Question<T> {
  settings: Settings;
  /** What the first snapshot is read by; grows with what decisions lack. */
  keys: Keys;
  decide(draft: Draft): T;
}

export interface Decided<T> {
  result: T;
  plan: Plan;
}

export interface Lacking {
  wanted: NonNullable<Draft['wanted']>;
}

export class Inquiry {
  private readonly known = new Map<
    string,
    { fetched: Fetched<Wanted[WantedKind]>; version: number | null }
  >();

  constructor(private readonly hasKey: boolean) {}

  add(wanted: Lacking['wanted'], fetched: Fetched<Wanted[WantedKind]>): void {
    this.fetches += 1;
    this.known.set(`${wanted.kind} ${wanted.id}`, { fetched, version: wanted.version });
  }

  /** An answer is valid until another decision about the Stripe customer is made. */
  readonly answers = ((kind: WantedKind, id: string, version: number | null) => {
    const answer = this.known.get(`${kind} ${id}`);
    if (answer?.version === version) return answer.fetched;
    if (!this.hasKey) return { state: 'unavailable', reason: 'no_api_key' };
    return this.fetches < MOST_FETCHES ? undefined : { state: 'unavailable', reason: 'changes_too_often' };
  }) as Answers;

  private fetches = 0;
}

/** Reads again with more keys each time. @throws NotReportedError where the daily job has to leave it */
export async function readAndDecide<T>(
  read: (keys: Keys) => Promise<Snapshot>,
  question: Question<T>,
  inquiry: Inquiry,
): Promise<Decided<T> | Lacking> {
  for (let reads = 1; reads <= MOST_READS; reads += 1) {
    const snapshot = await read(question.keys);
    const draft = new Draft(snapshot, question.settings, inquiry.answers);
    const result = question.decide(draft);
    if (!draft.isIncomplete) {
      if (draft.unreported) throw new NotReportedError(draft.unreported.what, draft.unreported.reason);
      return { result, plan: toPlan(draft) };
    }
    question.keys = mergeKeys(question.keys, draft.missing);
    if (draft.wanted) return { wanted: draft.wanted };
  }
  throw new Error('a decision lacks something however much is read');
}
