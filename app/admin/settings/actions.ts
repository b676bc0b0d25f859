'use server';

import { z } from 'zod';
import { sendTestAlert } from '@/lib/alerts/watch-alerts';
import { saveCompany } from '@/lib/documents/company';
import { REMINDER_FORM, saveReminderSettings } from '@/lib/documents/reminder-letter';
import { saveAccountingSettings } from '@/lib/exports/accounting-settings';
import { etagOf } from '@/lib/http/messages';
import { saveNumberSeries } from '@/lib/records/number-series';
import { refreshPages, staffAction, staffFormAction } from '../_components/page/staff-action';
import { ACCOUNTING_FORM } from './accounting/accounting-fields';
import { COMPANY_FORM } from './company/company-fields';

/** The ETag of the settings that the page showed. A save is refused if another admin has changed them since. */
const sentEtag = z.string();
const isAsSeen = (seen: string) => (current: object) => etagOf(current) === seen;

/** Saves the settings of the DATEV export, and redirects to the accounting settings. */
export const saveAccounts = staffFormAction({
  role: 'admin',
  input: [sentEtag],
  form: ACCOUNTING_FORM,
  run: ({ runtime: { db }, actor }, seen, typed) =>
    saveAccountingSettings(db, typed, { actor, precondition: isAsSeen(seen) }),
  done: () => '/admin/settings/accounting?notice=saved',
  refused: ({ problems }, _seen, typed) => ({ typed, problems }),
});

/** Saves the details of our company, and redirects to the company settings. */
export const saveOurCompany = staffFormAction({
  role: 'admin',
  input: [sentEtag],
  form: { ...COMPANY_FORM, remove_logo: 'flag' },
  run: async ({ runtime: { db }, actor }, seen, typed, form) => {
    const { small_business, logo: _, remove_logo, ...texts } = typed;
    const filled = Object.entries(texts).map(([name, text]) => [name, text.trim() || null]);
    const values = Object.fromEntries(filled) as Record<keyof typeof texts, string | null>;
    const file = form.get('logo');
    const isGiven = file instanceof File && file.size > 0;
    const logo = isGiven ? Buffer.from(await file.arrayBuffer()) : remove_logo ? null : undefined;
    await saveCompany(db, { ...values, small_business }, { actor, logo, precondition: isAsSeen(seen) });
  },
  done: () => '/admin/settings/company?notice=saved',
  refused: ({ problems }, _seen, typed) => ({ typed: { ...typed, logo: '' }, problems }),
});

export interface SeriesState {
  /** The typed values without leading and trailing spaces. */
  typed: { prefix: string; with_year: boolean; width: string; first_count: string };
  /** The ETag of the series that the form showed or saved. Saving another form reloads the page, but not this value. */
  etag: string;
  problems: Record<string, string>;
  saved: boolean;
}

/** Saves the format of the next numbers in a series, such as invoice numbers. */
export const saveSeries = staffFormAction({
  role: 'admin',
  input: [z.string()],
  form: { prefix: 'text', with_year: 'flag', width: 'text', first_count: 'text', etag: 'text' },
  run: ({ runtime: { db }, actor }, name, sent) => {
    const typed = trimmed(sent);
    const wanted = { ...typed, width: toNumber(typed.width), first_count: toNumber(typed.first_count) };
    return saveNumberSeries(db, name, wanted, { actor, precondition: isAsSeen(sent.etag) });
  },
  done: (saved, _name, sent): SeriesState => {
    refreshPages();
    return { typed: trimmed(sent), etag: etagOf(saved), problems: {}, saved: true };
  },
  refused: ({ problems }, _name, sent): SeriesState => ({
    typed: trimmed(sent),
    etag: sent.etag,
    problems,
    saved: false,
  }),
});

function trimmed({ prefix, width, first_count, with_year }: SeriesState['typed']): SeriesState['typed'] {
  return { prefix: prefix.trim(), with_year, width: width.trim(), first_count: first_count.trim() };
}

/** Parses a whole number of up to 15 digits. Returns any other text unchanged, so that validation refuses it. */
const toNumber = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : text);

/** Sends a test alert to all channels. The page then shows whether the delivery succeeded. */
export const sendTest = staffAction({
  role: 'admin',
  input: [],
  run: ({ runtime, staff }) => sendTestAlert(runtime, staff.email),
  done: () => '/admin/settings/alerts?notice=sent',
  refused: ({ code }) => `/admin/settings/alerts?notice=${code === 'conflict' ? 'no_channel' : 'failed'}`,
});

/** Saves the settings of payment reminders, and redirects to the page with these settings. */
export const saveReminders = staffFormAction({
  role: 'admin',
  input: [sentEtag],
  form: REMINDER_FORM,
  run: ({ runtime: { db }, actor }, seen, typed) =>
    saveReminderSettings(db, typed, { actor, precondition: isAsSeen(seen) }),
  done: () => '/admin/settings/reminders?notice=saved',
  refused: ({ problems }, _seen, typed) => ({ typed, problems }),
});
