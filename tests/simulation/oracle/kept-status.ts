import type { WorldEvent } from '@/lib/stripe-local/model';
import type { Tables } from '../tables';
import type { Truth, Verdict } from './index';
import { ANNOUNCING, type Moment } from './story';

const KNOWN = {
  subscription: new Set([
    'active',
    'canceled',
    'incomplete',
    'incomplete_expired',
    'past_due',
    'paused',
    'trialing',
    'unpaid',
  ]),
  invoice: new Set(['draft', 'open', 'paid', 'uncollectible', 'void']),
};

interface WithStatus {
  object: 'subscription' | 'invoice';
  status: string;
}

export const hasKnownStatus = ({ object, status }: WithStatus) => KNOWN[object].has(status);

/**
 * The statuses that a row may have at a moment: its own; of one that nobody knows, those that may have been stored
 * when it was taken.
 *
 * @param unset what a new row has that nothing was reported of yet
 */
export function keptStatuses<T extends WithStatus>(
  truth: Truth,
  story: Moment<T>[],
  { at, about }: Moment<T>,
  unset: T['status'],
): T['status'][] {
  if (hasKnownStatus(about)) return [about.status];
  const before = story.filter((moment) => moment.at <= at && (moment.isAnnounced || truth.hasKey));
  const kept: T['status'][] = [];
  for (const [i, moment] of [...before.entries()].reverse()) {
    if (!hasKnownStatus(moment.about)) continue;
    const stranger = before.slice(i + 1).filter((one) => !hasKnownStatus(one.about));
    if (mayComeBefore(truth, moment, stranger)) kept.push(moment.about.status);
    const until = before.slice(0, i + 1);
    if (!mustComeBefore(truth, until, stranger)) continue;
    // Where Stripe is not asked, nothing tells for sure which of its second was the last.
    const tied = truth.hasKey && !truth.mayFail ? [] : announcedOfSecond(until).map((one) => one.about);
    return [...new Set([...kept, ...tied.filter(hasKnownStatus).map(({ status }) => status)])];
  }
  return [...new Set([...kept, unset])];
}

/** Whether one may have been stored when a later one was taken, as happens again with each event of its second. */
function mayComeBefore(truth: Truth, { event }: Moment<unknown>, others: Moment<unknown>[]): boolean {
  if (others.some((one) => one.event.created === event.created)) return true;
  const tried = truth.times.get(event.id)?.tried ?? Number.POSITIVE_INFINITY;
  const done = others.map((one) => truth.times.get(one.event.id)?.done ?? Number.POSITIVE_INFINITY);
  return truth.hasKey || tried < Math.min(Number.POSITIVE_INFINITY, ...done);
}

function announcedOfSecond<T>(until: Moment<T>[]): Moment<T>[] {
  const second = until.at(-1)?.event.created;
  return until.filter((one) => one.isAnnounced && one.event.created === second);
}

/**
 * With an API key a state may be seen from when it was there, else from when it is first reported. Of a second it is
 * not known which state is the last before all that came until then are reported.
 */
function mustComeBefore(truth: Truth, until: Moment<unknown>[], others: Moment<unknown>[]): boolean {
  const last = until.at(-1);
  if (!last?.isAnnounced) return false; // an event that is ignored tells nothing
  const done = announcedOfSecond(until).map(
    ({ event }) => truth.times.get(event.id)?.done ?? Number.POSITIVE_INFINITY,
  );
  const seen = others.map((one) => {
    const times = truth.times.get(one.event.id);
    return (truth.hasKey ? times?.happened : times?.tried) ?? Number.POSITIVE_INFINITY;
  });
  return Math.max(...done) < Math.min(Number.POSITIVE_INFINITY, ...seen);
}

/** An event that tells a status which nobody knows leaves a warning. Asked, Stripe may have reported another. */
export function checkWarnings(truth: Truth, tables: Tables, verdict: Verdict): void {
  if (truth.hasKey) return;
  const rows = new Map(tables.events.map((row) => [row.id, row]));
  for (const event of truth.history) {
    const { about } = event;
    if (about.object !== 'subscription' && about.object !== 'invoice') continue;
    if (hasKnownStatus(about) || !isAlone(truth, event)) continue;
    const row = rows.get(event.id);
    if (
      row?.outcome !== 'processed' ||
      row.warnings.includes(`unknown ${about.object} status ${about.status}`)
    )
      continue;
    const what = `event ${event.id}`;
    verdict.differences.push({ what, expected: 'a warning', actual: row.warnings });
  }
}

const isAlone = ({ history }: Truth, { created, about }: WorldEvent) =>
  history.filter(
    (other) => ANNOUNCING.has(other.type) && other.created === created && other.about.id === about.id,
  ).length === 1;
