import { addDays } from './dates';

/** A range of days by its name, both ends inclusive. */
export interface DatePreset {
  label: string;
  from: string;
  to: string;
}

/** This and the last month, quarter and year. */
export function pastPresets(today: string): DatePreset[] {
  return [
    month('This month', today, 0),
    month('Last month', today, -1),
    quarter('This quarter', today, 0),
    quarter('Last quarter', today, -1),
    year('This year', today, 0),
    year('Last year', today, -1),
  ];
}

/** Weeks and months from this one on; weeks begin on Monday. */
export function comingPresets(today: string): DatePreset[] {
  return [
    week('This week', today, 0),
    week('Next week', today, 1),
    month('This month', today, 0),
    month('Next month', today, 1),
    quarter('Next quarter', today, 1),
  ];
}

function week(label: string, today: string, by: number): DatePreset {
  const sinceMonday = (new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7;
  const from = addDays(today, 7 * by - sinceMonday);
  return { label, from, to: addDays(from, 6) };
}

function month(label: string, today: string, by: number): DatePreset {
  return { label, from: firstOf(today, by), to: addDays(firstOf(today, by + 1), -1) };
}

function quarter(label: string, today: string, by: number): DatePreset {
  const since = (monthOf(today) - 1) % 3;
  const start = 3 * by - since;
  return { label, from: firstOf(today, start), to: addDays(firstOf(today, start + 3), -1) };
}

function year(label: string, today: string, by: number): DatePreset {
  const start = 12 * by - monthOf(today) + 1;
  return { label, from: firstOf(today, start), to: addDays(firstOf(today, start + 12), -1) };
}

/** The first day of a month so many after today's. */
function firstOf(today: string, by: number): string {
  return new Date(Date.UTC(Number(today.slice(0, 4)), monthOf(today) - 1 + by, 1)).toISOString().slice(0, 10);
}

const monthOf = (date: string) => Number(date.slice(5, 7));
