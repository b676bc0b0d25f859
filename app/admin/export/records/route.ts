import { notFound } from 'next/navigation';
import { EXPORT_KINDS, EXPORT_NAMES, exportCsv } from '@/lib/exports/export-csv';
import { csvRoute } from '../../_components/lists/csv';

/** Downloads all records of a kind, in the same CSV format as the export command. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = csvRoute(({ searchParams }, { db }, today) => {
  const kind = EXPORT_NAMES.find((name) => name === searchParams.get('kind')) ?? notFound();
  return { name: `${kind}-${today}`, pieces: exportCsv(db, EXPORT_KINDS[kind]) };
});
