import { fromEpoch, toCalendarDate, toEpoch } from '../../dates';

export interface Calendar {
  /** An instant that falls on the date, near its noon. */
  on(date: string): number;
  /** The same for something that has happened: not later than now. */
  past(date: string): number;
}

const HALF_DAY = 43_200;

/** Turns our calendar dates into instants that fall on them in one time zone. */
export function createCalendar(now: Date, timeZone: string): Calendar {
  const on = (date: string) => {
    const noon = Date.parse(`${date}T12:00:00Z`) / 1000;
    const seen = toCalendarDate(fromEpoch(noon), timeZone);
    if (seen === date) return noon;
    // More than twelve hours from UTC, noon there is another day here.
    return seen > date ? noon - HALF_DAY : noon + HALF_DAY;
  };
  const today = toCalendarDate(now, timeZone);
  return { on, past: (date) => (date === today ? Math.min(on(date), toEpoch(now)) : on(date)) };
}
