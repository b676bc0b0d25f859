import { describe, expect, test } from 'vitest';
import {
  type Billed,
  combineBilled,
  type ServiceDates,
  toServiceDates,
} from '@/lib/sync/decide/subscription/service-dates';

const at = (date: string) => new Date(`${date}T12:00:00Z`);
const billed = (until: string, endsAt: string | null = null): Billed => ({
  until: at(until),
  endsAt: endsAt === null ? null : at(endsAt),
});
const dates = (
  next_billing_date: string | null,
  synced_billing_date: string | null,
  ends_on: string | null = null,
  synced_ends_on: string | null = null,
): ServiceDates => ({ next_billing_date, synced_billing_date, ends_on, synced_ends_on });

const [OLD, OWN, NEW, END] = ['2026-01-01', '2026-02-02', '2026-03-03', '2026-04-04'];

describe('the dates of a service', () => {
  test.each<[string, ServiceDates, Billed | undefined, ServiceDates]>([
    ['are those of what bills it', dates(null, null), billed(NEW), dates(NEW, NEW)],
    ['replace what people entered before', dates(OWN, null), billed(NEW), dates(NEW, NEW)],
    ['stay people’s own where Stripe has the same', dates(NEW, null), billed(NEW), dates(NEW, null)],
    ['are cleared with what billed it', dates(OLD, OLD), undefined, dates(null, null)],
    ['stay where people entered others since', dates(OWN, OLD), undefined, dates(OWN, OLD)],
    ['end with what bills it', dates(OLD, OLD), billed(NEW, END), dates(NEW, NEW, END, END)],
    ['do not end where it goes on', dates(OLD, OLD, END, END), billed(NEW), dates(NEW, NEW)],
    ['do not end with what billed it', dates(OLD, OLD, END, END), undefined, dates(null, null)],
    ['keep the end that people entered', dates(OLD, OLD, OWN), billed(NEW), dates(NEW, NEW, OWN)],
    ['keep it where nothing bills it', dates(null, null, OWN), undefined, dates(null, null, OWN)],
    [
      'keep it where Stripe had another end once',
      dates(OLD, OLD, OWN, END),
      undefined,
      dates(null, null, OWN, END),
    ],
  ])('%s', (_, before, all, after) => {
    expect(toServiceDates(before, all, 'UTC')).toEqual(after);
  });

  test('are calendar dates of the time zone', () => {
    const late = { until: new Date('2026-03-03T23:30:00Z'), endsAt: new Date('2026-04-04T23:30:00Z') };
    expect(toServiceDates(dates(null, null), late, 'Europe/Berlin')).toEqual(
      dates('2026-03-04', '2026-03-04', '2026-04-05', '2026-04-05'),
    );
  });
});

describe('what bills a service, taken together', () => {
  test.each<[string, Billed[], Billed | undefined]>([
    ['is nothing where nothing does', [], undefined],
    ['has the latest date', [billed(NEW), billed(OLD)], billed(NEW)],
    ['goes on where one goes on', [billed(OLD, END), billed(NEW)], billed(NEW)],
    ['ends with the last', [billed(OLD, END), billed(NEW, NEW)], billed(NEW, END)],
  ])('%s', (_, all, expected) => {
    expect(combineBilled(all)).toEqual(expected);
  });
});
