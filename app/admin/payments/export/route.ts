import { redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { toCalendarDate } from '@/lib/dates';
import { methodNotAllowed } from '@/lib/http/method-not-allowed';
import { paymentsCsv } from '@/lib/payments/payments-csv';
import { staffFilters } from '@/lib/payments/staff-filters';
import { getRuntime } from '@/lib/runtime';
import { toParams } from '../../../_components/search-params';
import { csvResponse } from '../../_components/csv-response';
import { parseFilters } from '../../_components/parse-filters';
import { PATH } from '../path';

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD, OPTIONS');

/** The filtered list as a file. */
export async function GET(request: Request): Promise<Response> {
  await requireStaff();
  const { search, searchParams } = new URL(request.url);
  const { filters } = parseFilters(staffFilters, toParams(Object.fromEntries(searchParams)));
  if (!filters) redirect(PATH + search); // the list says what is wrong
  const { db, env, now } = await getRuntime();
  return csvResponse(`payments-${toCalendarDate(now(), env.timeZone)}`, paymentsCsv(db, filters));
}
