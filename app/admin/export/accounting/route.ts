import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { accountingCsv, calendarMonth } from '@/lib/exports/accounting-csv';
import { methodNotAllowed } from '@/lib/http/messages';
import { getRuntime } from '@/lib/runtime';
import { csvResponse } from '../../_components/lists/csv';

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD, OPTIONS');

/** Downloads a month's accounting entries, in the same CSV format as the export command. */
export async function GET(request: Request): Promise<Response> {
  await requireStaff();
  const { data: month } = calendarMonth.safeParse(new URL(request.url).searchParams.get('month'));
  if (month === undefined) notFound();
  const { db } = await getRuntime();
  return csvResponse(`accounting-${month}`, accountingCsv(db, month));
}
