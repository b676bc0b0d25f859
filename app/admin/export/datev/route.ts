import { notFound } from 'next/navigation';
import { calendarMonth } from '@/lib/exports/accounting-csv';
import { datevFile, datevName } from '@/lib/exports/datev';
import { fileRoute } from '../../_components/lists/csv';

/** Downloads a month's posting batch for DATEV. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = fileRoute(({ searchParams }, { db, now }) => {
  const month = calendarMonth.safeParse(searchParams.get('month')).data ?? notFound();
  const type = 'text/csv; charset=windows-1252; header=present';
  return { name: `${datevName(month)}.csv`, type, pieces: datevFile(db, month, now()) };
});
