'use server';

import { revalidatePath } from 'next/cache';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { saveNumberSeries } from '@/lib/records/number-series';
import { getRuntime } from '@/lib/runtime';
import { toProblems } from '../../_components/page/staff-action';

export interface SeriesState {
  /** The fields as they were typed. */
  typed: { prefix: string; with_year: boolean; width: string; first_count: string };
  problems: Record<string, string>;
  saved: boolean;
}

/** Sets how the numbers of a series look. */
export async function saveSeries(name: string, _before: SeriesState, form: FormData): Promise<SeriesState> {
  const actor = staffActor(await requireAdmin());
  const { db } = await getRuntime();
  const text = (field: string) => String(form.get(field) ?? '').trim();
  const with_year = form.has('with_year');
  const typed = { prefix: text('prefix'), with_year, width: text('width'), first_count: text('first_count') };
  const wanted = { ...typed, width: toNumber(typed.width), first_count: toNumber(typed.first_count) };
  try {
    await saveNumberSeries(db, name, wanted, { actor });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { typed, problems: toProblems(error, typed), saved: false };
  }
  revalidatePath('/admin', 'layout');
  return { typed, problems: {}, saved: true };
}

/** What is no number stays as it was typed, for the rules to refuse. */
const toNumber = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : text);
