import { notFound } from 'next/navigation';
import { calendarMonth } from '@/lib/exports/accounting-csv';
import { documentsZip } from '@/lib/exports/documents-zip';
import { fileRoute } from '../../_components/lists/csv';

/** Downloads the documents of a month's invoices as a zip archive. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = fileRoute(({ searchParams }, { db, env, now }) => {
  const month = calendarMonth.safeParse(searchParams.get('month')).data ?? notFound();
  const pieces = documentsZip(db, month, { now: now(), timeZone: env.timeZone });
  return { name: `documents-${month}.zip`, type: 'application/zip', pieces };
});
