import { notFound } from 'next/navigation';
import { accountingCsv, calendarMonth } from '@/lib/exports/accounting-csv';
import { csvRoute } from '../../_components/lists/csv';

/** Downloads a month's accounting entries, in the same CSV format as the export command. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = csvRoute(({ searchParams }, { db }) => {
  const month = calendarMonth.safeParse(searchParams.get('month')).data ?? notFound();
  const form = searchParams.get('form') === 'semicolon' ? 'semicolon' : 'comma';
  return { name: `accounting-${month}`, pieces: accountingCsv(db, month, form) };
});
