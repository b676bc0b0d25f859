import { describe, expect, test } from 'vitest';
import type { ProviderInvoice } from '@/lib/stripe/provider';
import { toProviderInvoice } from '@/lib/stripe/to-invoice';
import type { Answers } from '@/lib/sync/decide/draft';
import { decideOrder, recheckAt, type Source } from '@/lib/sync/decide/order';
import { draftOf, NOW } from '../../support/draft';

const at = (second: number) => new Date(Date.UTC(2026, 2, 15, 10, 0, second));
const invoice = (status: string): ProviderInvoice => {
  const made = toProviderInvoice({ id: 'in_1', status, currency: 'eur', customer: 'cus_1' });
  if (!made) throw new Error('this is an invoice');
  return made;
};
const [INCOMING, FETCHED, OF_INBOX] = [invoice('open'), invoice('paid'), invoice('void')];
const FOUND = (() => ({ state: 'found', object: FETCHED, asOf: at(9) })) as unknown as Answers;

interface Case {
  source: Source;
  storedAsOf: Date | null;
  isStored?: boolean;
  recheck_at?: Date | null;
  answers?: Answers;
}

const event = (second: number): Source => ({ origin: 'event', asOf: at(second) });
const fetched = (second: number): Source => ({ origin: 'fetched', asOf: at(second) });
const listed = (second: number): Source => ({ origin: 'listed', asOf: at(second) });
const take = (state: ProviderInvoice, second: number, recheck = false) => ({
  take: state,
  asOf: at(second),
  recheck,
});

describe('which of two states is taken', () => {
  const decide = ({ source, storedAsOf, isStored = false, recheck_at = null, answers }: Case) => {
    const draft = draftOf({ ...(answers && { answers }) });
    const decision = decideOrder(draft, {
      kind: 'invoice',
      incoming: INCOMING,
      stripeCustomerId: 'cus_1',
      source,
      row: { provider_as_of: storedAsOf, recheck_at, provider_gone_at: null },
      isStored: () => isStored,
      decideFromInbox: () => OF_INBOX,
    });
    return { decision, isLeft: draft.unreported !== undefined };
  };

  test.each<[string, Case, unknown]>([
    ['the first', { source: event(5), storedAsOf: null }, take(INCOMING, 5)],
    ['the newer', { source: event(5), storedAsOf: at(4) }, take(INCOMING, 5)],
    ['not the older', { source: event(4), storedAsOf: at(5) }, 'stale'],
    ['a fetched one of the same second', { source: fetched(5), storedAsOf: at(5) }, take(INCOMING, 5)],
    ['none of two alike in one second', { source: event(5), storedAsOf: at(5), isStored: true }, 'unchanged'],
    [
      'of one second what Stripe answers',
      { source: event(5), storedAsOf: at(5), answers: FOUND },
      take(FETCHED, 9),
    ],
    [
      'of one second, where Stripe does not answer, what its payloads lead to',
      { source: event(5), storedAsOf: at(5) },
      take(OF_INBOX, 5, true),
    ],
    [
      'what Stripe answers, while a recheck is due, even of two alike',
      { source: event(5), storedAsOf: at(5), isStored: true, recheck_at: at(6), answers: FOUND },
      take(FETCHED, 9),
    ],
    ['not a list’s that is stored', { source: listed(9), storedAsOf: at(5), isStored: true }, 'unchanged'],
    [
      'a list’s that is stored, while a recheck is due',
      { source: listed(9), storedAsOf: at(5), isStored: true, recheck_at: at(6) },
      take(INCOMING, 9),
    ],
    ['a list’s that is newer', { source: listed(9), storedAsOf: at(5) }, take(INCOMING, 9)],
  ])('%s', (_, given, expected) => {
    expect(decide(given)).toEqual({ decision: expected, isLeft: false });
  });

  test('of one second, a list’s is left to the next night where Stripe does not answer', () => {
    expect(decide({ source: listed(5), storedAsOf: at(5) })).toEqual({ decision: 'unchanged', isLeft: true });
  });
});

describe('a recheck', () => {
  const row = { provider_as_of: at(1), recheck_at: at(2), provider_gone_at: null };
  test.each<[string, Source, boolean, Date | null]>([
    ['becomes due with a doubt', event(5), true, NOW],
    ['stays due after an event', event(5), false, at(2)],
    ['stays due after a list', listed(5), false, at(2)],
    ['is done with what was fetched', fetched(5), false, null],
  ])('%s', (_, source, isDoubtful, expected) => {
    expect(recheckAt(draftOf(), row, source, isDoubtful)).toEqual(expected);
  });
});
