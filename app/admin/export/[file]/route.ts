import { notFound } from 'next/navigation';
import { entryList, getStatement } from '@/lib/bank/queries';
import { accountingCsv, calendarMonth } from '@/lib/exports/accounting-csv';
import { datevFile, datevName } from '@/lib/exports/datev';
import { documentsZip } from '@/lib/exports/documents-zip';
import { EXPORT_KINDS, EXPORT_NAMES, exportCsv } from '@/lib/exports/export-csv';
import { productRevenueCsv } from '@/lib/exports/product-revenue';
import { rowId } from '@/lib/fields';
import { monthsUntil, REPORT_MONTHS, REPORTS, type ReportName, reportCsv } from '@/lib/overview/reports';
import { csvFile, fileRoute, listFile, type OpenFile } from '../../_components/lists/csv';
import { orNotFound } from '../../_components/page/staff-page';
import { CREDIT_NOTES } from '../../credit-notes/list';
import { CUSTOMERS } from '../../customers/list';
import { INVOICES } from '../../invoices/list';
import { OVERDUE } from '../../overdue/invoices/list';
import { RECEIVABLES, REMINDERS } from '../../overdue/list';
import { PAYMENTS } from '../../payments/list';
import { RENEWALS } from '../../renewals/list';
import { CUSTOMER_AMOUNTS } from '../../reports/customers/list';
import { POSTINGS } from '../../reports/postings/list';
import { SALES_DOCUMENTS } from '../../sales-documents/list';
import { SERVERS } from '../../servers/list';
import { SERVICES } from '../../services/list';
import { SUBSCRIPTIONS } from '../../subscriptions/list';
import { EVENTS } from '../../webhooks/list';

const monthOf = (params: URLSearchParams) => calendarMonth.safeParse(params.get('month')).data ?? notFound();

/** The files of this route, keyed by the last part of their URL. */
const FILES: Record<string, OpenFile> = {
  ...listFile(PAYMENTS),
  ...listFile(INVOICES),
  ...listFile(CREDIT_NOTES),
  ...listFile(RECEIVABLES),
  ...listFile(OVERDUE),
  ...listFile(REMINDERS),
  ...listFile(CUSTOMERS),
  ...listFile(SERVICES),
  ...listFile(RENEWALS),
  ...listFile(SUBSCRIPTIONS),
  ...listFile(SALES_DOCUMENTS),
  ...listFile(SERVERS),
  ...listFile(EVENTS),
  ...listFile(POSTINGS),
  ...listFile(CUSTOMER_AMOUNTS),

  /** Returns all entries of a bank statement's account in the statement's currency and period. */
  async 'bank-entries'({ searchParams }, { db }) {
    const id = rowId.safeParse(Number(searchParams.get('statement'))).data ?? notFound();
    const statement = await orNotFound(getStatement(db, id));
    const { account, currency, first_day: from, last_day: to } = statement;
    return csvFile(`bank-${account}-${from}-${to}`, entryList.csv(db, { account, currency, from, to }));
  },

  /** Returns all records of a kind, in the same format as the export command. */
  records({ searchParams }, { db }, today) {
    const kind = EXPORT_NAMES.find((name) => name === searchParams.get('kind')) ?? notFound();
    return csvFile(`${kind}-${today}`, exportCsv(db, EXPORT_KINDS[kind]));
  },

  /** Returns a month's accounting entries, in the same format as the export command. */
  accounting({ searchParams }, { db }) {
    const month = monthOf(searchParams);
    const form = searchParams.get('form') === 'semicolon' ? 'semicolon' : 'comma';
    return csvFile(`accounting-${month}`, accountingCsv(db, month, form));
  },

  /** Returns a month's posting batch for DATEV. */
  datev({ searchParams }, { db, now }) {
    const month = monthOf(searchParams);
    const type = 'text/csv; charset=windows-1252; header=present';
    return { name: `${datevName(month)}.csv`, type, pieces: datevFile(db, month, now()) };
  },

  /** Returns a zip archive with the documents of a month's invoices, credit notes and cancellations. */
  documents({ searchParams }, { db, env, now }) {
    const month = monthOf(searchParams);
    const pieces = documentsZip(db, month, { now: now(), timeZone: env.timeZone });
    return { name: `documents-${month}.zip`, type: 'application/zip', pieces };
  },

  /** Returns a report in all currencies. */
  reports({ searchParams }, { db }, today) {
    const names = Object.keys(REPORTS) as ReportName[];
    const count = REPORT_MONTHS.find((one) => String(one) === searchParams.get('months')) ?? REPORT_MONTHS[0];
    if (searchParams.get('report') === 'product-revenue') {
      const name = `report-product-revenue-${today}`;
      return csvFile(name, productRevenueCsv(db, monthsUntil(today, count)));
    }
    const report = names.find((name) => name === searchParams.get('report')) ?? notFound();
    return csvFile(`report-${report}-${today}`, reportCsv(db, report, today, count));
  },
};

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = fileRoute<{ file: string }>(
  ({ file }) => (Object.hasOwn(FILES, file) && FILES[file]) || notFound(),
);
