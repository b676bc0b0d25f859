import { describe, expect, test } from 'vitest';
import { addDays, fromEpoch, startOfDay, toCalendarDate, toEpoch } from '@/lib/dates';

describe('dates', () => {
  test.each([
    ['2026-03-15T23:30:00Z', 'UTC', '2026-03-15'],
    ['2026-03-15T23:30:00Z', 'Europe/Berlin', '2026-03-16'],
    ['2026-03-15T23:30:00Z', 'America/New_York', '2026-03-15'],
    ['2026-01-01T03:00:00Z', 'America/New_York', '2025-12-31'],
    ['2026-01-01T10:30:00Z', 'Pacific/Kiritimati', '2026-01-02'],
    ['2026-03-29T00:59:59Z', 'Europe/Berlin', '2026-03-29'],
  ])('%s in %s is the %s', (instant, timeZone, date) => {
    expect(toCalendarDate(new Date(instant), timeZone)).toBe(date);
  });

  test.each([
    ['2026-02-28', 1, '2026-03-01'],
    ['2028-02-28', 1, '2028-02-29'],
    ['2026-03-01', -1, '2026-02-28'],
    ['2026-12-31', 1, '2027-01-01'],
    ['2026-03-28', 2, '2026-03-30'],
    ['2026-03-15', 0, '2026-03-15'],
    ['2026-03-15', 365, '2027-03-15'],
  ])('%s and %d days is %s', (date, days, expected) => {
    expect(addDays(date, days)).toBe(expected);
  });

  test.each([
    ['2026-03-15', 'UTC', '2026-03-15T00:00:00.000Z'],
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
    ['2026-03-15', 'Pacific/Kiritimati', '2026-03-14T10:00:00.000Z'],
    ['2026-03-15', 'Pacific/Pago_Pago', '2026-03-15T11:00:00.000Z'],
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'], // no midnight there
  ])('the %s begins in %s at %s', (date, timeZone, expected) => {
    expect(startOfDay(date, timeZone).toISOString()).toBe(expected);
  });

  test('instants of Stripe are whole seconds', () => {
    expect(fromEpoch(1_773_576_000).toISOString()).toBe('2026-03-15T12:00:00.000Z');
    expect(toEpoch(new Date('2026-03-15T12:00:00.999Z'))).toBe(1_773_576_000);
    expect(toEpoch(fromEpoch(0))).toBe(0);
  });
});
