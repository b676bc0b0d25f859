import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { toCalendarDate } from '@/lib/dates';
import { exportCsv } from '@/lib/exports/export-csv';
import { EXPORT_KINDS, EXPORT_NAMES } from '@/lib/exports/kinds';
import { methodNotAllowed } from '@/lib/http/messages';
import { getRuntime } from '@/lib/runtime';
import { csvResponse } from '../../_components/lists/csv';

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD, OPTIONS');

/** Downloads all records of a kind, in the same CSV format as the export command. */
export async function GET(request: Request): Promise<Response> {
  await requireStaff();
  const asked = new URL(request.url).searchParams.get('kind');
  const kind = EXPORT_NAMES.find((name) => name === asked) ?? notFound();
  const { db, env, now } = await getRuntime();
  const today = toCalendarDate(now(), env.timeZone);
  return csvResponse(`${kind}-${today}`, exportCsv(db, EXPORT_KINDS[kind]));
}
