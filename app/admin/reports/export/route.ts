import { notFound } from 'next/navigation';
import { REPORT_MONTHS, REPORTS, type ReportName, reportCsv } from '@/lib/overview/reports';
import { csvRoute } from '../../_components/lists/csv';

/** Downloads a report with all its currencies. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = csvRoute(({ searchParams }, { db }, today) => {
  const names = Object.keys(REPORTS) as ReportName[];
  const report = names.find((name) => name === searchParams.get('report')) ?? notFound();
  const months = REPORT_MONTHS.find((count) => String(count) === searchParams.get('months'));
  return {
    name: `report-${report}-${today}`,
    pieces: reportCsv(db, report, today, months ?? REPORT_MONTHS[0]),
  };
});
