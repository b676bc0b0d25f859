'use server';

import { z } from 'zod';
import { saveNumberSeries } from '@/lib/records/number-series';
import { refreshPages, staffFormAction } from '../../_components/page/staff-action';

export interface SeriesState {
  /** The typed values, without spaces around them. */
  typed: { prefix: string; with_year: boolean; width: string; first_count: string };
  problems: Record<string, string>;
  saved: boolean;
}

/** Saves the format of the next numbers in a series, such as invoice numbers. */
export const saveSeries = staffFormAction({
  role: 'admin',
  input: [z.string()],
  form: { prefix: 'text', with_year: 'flag', width: 'text', first_count: 'text' },
  run: ({ runtime: { db }, actor }, name, sent) => {
    const typed = trimmed(sent);
    const wanted = { ...typed, width: toNumber(typed.width), first_count: toNumber(typed.first_count) };
    return saveNumberSeries(db, name, wanted, { actor });
  },
  done: (_saved, _name, sent): SeriesState => {
    refreshPages();
    return { typed: trimmed(sent), problems: {}, saved: true };
  },
  refused: ({ problems }, _name, sent): SeriesState => ({ typed: trimmed(sent), problems, saved: false }),
});

function trimmed({ prefix, width, first_count, with_year }: SeriesState['typed']): SeriesState['typed'] {
  return { prefix: prefix.trim(), with_year, width: width.trim(), first_count: first_count.trim() };
}

/** Parses a number. Returns any other text unchanged, so that validation reports the text. */
const toNumber = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : text);
