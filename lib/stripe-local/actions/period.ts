import { fromEpoch, toEpoch } from '../../dates';

/** The instant some months or years later, on the month's last day where it has no such day. */
export function addIntervals(start: number, interval: 'month' | 'year', count: number): number {
  const instant = fromEpoch(start);
  const day = instant.getUTCDate();
  instant.setUTCDate(1);
  instant.setUTCMonth(instant.getUTCMonth() + (interval === 'year' ? 12 : 1) * count);
  const lastDay = fromEpoch(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + 1, 0) / 1000);
  instant.setUTCDate(Math.min(day, lastDay.getUTCDate()));
  return toEpoch(instant);
}
