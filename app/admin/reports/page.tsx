import { Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { toCalendarDate } from '@/lib/dates';
import { AGE_GROUPS } from '@/lib/overdue';
import { REPORT_MONTHS, REPORTS, type ReportName, type ReportRow, readReports } from '@/lib/overview/reports';
import {
  formatField,
  formatMoney,
  formatMonth,
  formatNumber,
  formatShortMoney,
  joinTexts,
} from '../../_components/format';
import { TextLink } from '../../_components/links';
import { toHref } from '../../_components/search-params';
import { BarChart } from '../_components/display/charts';
import { DownloadButton } from '../_components/lists/list-page';
import { Choice } from '../_components/lists/paged-list';
import { type Column, RecordList } from '../_components/lists/record-list';
import { Nothing, Page, Section, staffPage } from '../_components/page/staff-page';
import { AGE_GROUP_TEXTS } from '../overdue/list';

export const metadata = { title: 'Reports' };

/** Shows the reports of one currency as charts and tables. A number in a table links to its rows if they are stored. */
export default staffPage(async ({ db, timeZone, search, runtime: { now } }) => {
  const today = toCalendarDate(now(), timeZone);
  const months = REPORT_MONTHS.find((count) => String(count) === search.get('months')) ?? REPORT_MONTHS[0];
  const { currencies, rowsOf } = await readReports(db, today, months);
  const currency = currencies.find((code) => code === search.get('currency')?.toLowerCase()) ?? currencies[0];
  const hrefOf = (changes: { months?: string; currency?: string }) =>
    toHref('/admin/reports', { months: String(months), ...(currency && { currency }), ...changes });
  return (
    <Page
      title="Reports"
      description="Amounts of the accounting export, and the state at the end of each month. The daily job has recorded that state since this version was installed."
    >
      <Group gap="xl">
        <Choice
          label="Period"
          current={String(months)}
          options={REPORT_MONTHS.map((count) => ({
            value: String(count),
            text: `${count} months`,
            href: hrefOf({ months: String(count) }),
          }))}
        />
        {currency && currencies.length > 1 && (
          <Choice
            label="Currency"
            current={currency}
            options={currencies.map((code) => ({
              value: code,
              text: code.toUpperCase(),
              href: hrefOf({ currency: code }),
            }))}
          />
        )}
      </Group>
      {currency ? (
        (Object.keys(SHOWN) as ReportName[]).map((report) => (
          <Report
            key={report}
            report={report}
            rows={rowsOf(report, currency)}
            file={toHref('/admin/export/reports', { report, months: String(months) })}
          />
        ))
      ) : (
        <Nothing title="No reports yet" text="They appear here as soon as an invoice is issued." />
      )}
    </Page>
  );
});

interface ShownReport {
  title: string;
  text: string;
  /** The column that the chart shows. */
  picture: string;
  labels: Record<string, string>;
  /** Returns the URL of the rows behind a number. Returns null if an earlier release stored only the number. */
  hrefOf(column: string, row: ReportRow, isRunning: boolean): string | null;
}

/** The `record` filter of the postings list for some columns of the revenue report. All other columns use `invoice`. */
const POSTED: Record<string, string> = {
  credited_gross: 'credit',
  received: 'payment',
  returned: 'refund',
  received_net: 'received',
};

/** The measure behind some columns of the report on recurring revenue. All other columns use `mrr`. */
const MRR_CHANGES: Record<string, string> = {
  new: 'mrr_new',
  expansion: 'mrr_expansion',
  contraction: 'mrr_contraction',
  churn: 'mrr_churn',
  customers_gained: 'mrr_new',
  customers_lost: 'mrr_churn',
};

/** Returns the URL of the customers behind a number of a recorded month. */
const customersOf = ({ month, currency }: ReportRow, measure: string) =>
  toHref('/admin/reports/customers', { month: month.slice(0, 7), measure, currency });

const SHOWN: Record<ReportName, ShownReport> = {
  revenue: {
    title: 'Revenue',
    text: 'The amounts that the accounting export has posted. A record dated in a month that was already over counts in the month in which it was entered. Each number links to its postings.',
    picture: 'invoiced_net',
    labels: {
      invoiced_net: 'Invoiced net',
      invoiced_gross: 'Invoiced gross',
      credited_gross: 'Credited gross',
      received: 'Received',
      returned: 'Returned',
      received_net: 'Received net',
    },
    hrefOf: (column, { month, currency }) =>
      toHref('/admin/reports/postings', {
        month: month.slice(0, 7),
        record: POSTED[column] ?? 'invoice',
        currency,
      }),
  },
  recurring: {
    title: 'Monthly recurring revenue',
    text: 'Net prices of the services active at the end of the month. A quarterly price counts as one third, a yearly price as one twelfth, and a one-time price not at all. New customers paid nothing in the previous recorded month, and lost customers no longer pay anything.',
    picture: 'mrr',
    labels: {
      mrr: 'MRR',
      customers: 'Customers',
      new: 'New',
      expansion: 'Expansion',
      contraction: 'Contraction',
      churn: 'Churn',
      customers_gained: 'Gained',
      customers_lost: 'Lost',
    },
    hrefOf: (column, row) => customersOf(row, MRR_CHANGES[column] ?? 'mrr'),
  },
  ageing: {
    title: 'Open amounts by age',
    text: 'What customers owed when the month was recorded, usually on the first day after it. The current month shows what they owe today and links to the lists. The other numbers link to their customers.',
    picture: 'open',
    labels: { open: 'Open', ...AGE_GROUP_TEXTS },
    hrefOf: (column, row, isRunning) => {
      const { currency } = row;
      if (!isRunning) return row.hasRows ? customersOf(row, `age_${column}`) : null;
      return AGE_GROUPS.some((age) => age === column && age !== 'not-due')
        ? toHref('/admin/overdue/invoices', { age: column, currency })
        : toHref('/admin/overdue', { currency });
    },
  },
  products: {
    title: 'Monthly recurring revenue by type of service',
    text: 'Monthly prices of the services active at the end of the month. Each number links to the customers who pay it.',
    picture: 'all',
    labels: Object.fromEntries(Object.keys(REPORTS.products).map((type) => [type, formatField(type)])),
    hrefOf(type, row) {
      if (type === 'all') return customersOf(row, 'mrr');
      return row.hasRows ? customersOf(row, `product_${type}`) : null;
    },
  },
};

function Report({ report, rows, file }: { report: ReportName; rows: ReportRow[]; file: string }) {
  const { title, text, picture, labels } = SHOWN[report];
  const currency = rows[0]?.currency ?? '';
  const label = labels[picture] ?? '';
  const valueText = ({ values }: ReportRow, column: string) =>
    textOf(report, column, values[column], currency);
  const [first, last] = [rows.at(0), rows.at(-1)];
  return (
    <Section title={title} action={<DownloadButton href={file}>{`${title} as CSV`}</DownloadButton>}>
      <Text size="sm" c="dimmed" px="md" pt="md">
        {text}
      </Text>
      {report === 'revenue' && (
        <Group px="md" pt="sm">
          <DownloadButton href={file.replace('report=revenue', 'report=product-revenue')}>
            Net by product as CSV
          </DownloadButton>
        </Group>
      )}
      {first && last && (
        <BarChart
          label={`${title}, ${label}, by month from ${formatMonth(first.month)} to ${formatMonth(last.month)}`}
          bars={rows.map((row) => ({
            name: row.month,
            value: row.values[picture] ?? 0,
            title: `${formatMonth(row.month)}: ${valueText(row, picture)}`,
          }))}
          formatTick={(value) => formatShortMoney(value, currency)}
          ends={[formatMonth(first.month), formatMonth(last.month)]}
        />
      )}
      <RecordList
        label={title}
        rows={rows.toReversed().map((row, at) => ({ ...row, id: row.month, isLast: at === 0 }))}
        columns={columnsOf(report)}
        isDense
        entryOf={(row) => ({
          title: formatMonth(row.month),
          detail: joinTexts(
            ...Object.keys(labels)
              .filter((column) => column !== picture && row.values[column] != null)
              .map((column) => `${labels[column]} ${valueText(row, column)}`),
          ),
          figure: numberOf(report, picture, row),
          state: label,
        })}
      />
    </Section>
  );
}

/** A row of a report's table. `isLast` is true for the last month of the report. */
type TableRow = ReportRow & { id: string; isLast: boolean };

function columnsOf(report: ReportName): Column<TableRow>[] {
  const columns = Object.entries(SHOWN[report].labels);
  return [
    { label: 'Month', cell: ({ month }) => formatMonth(month) },
    ...columns.map(([column, label]) => ({
      label,
      width: `${Math.floor(84 / columns.length)}%`,
      align: 'right' as const,
      cell: (row: TableRow) => numberOf(report, column, row),
    })),
  ];
}

/** Shows a number. Links it to the rows that it counts or sums, unless it is zero or the rows are not stored. */
function numberOf(report: ReportName, column: string, row: TableRow): ReactNode {
  const value = row.values[column];
  const { picture, hrefOf } = SHOWN[report];
  const isRunning = report === 'ageing' && row.isLast;
  // If a month was not recorded, only the column of the chart says so. The other columns show a dash.
  if (value == null) return column === picture ? textOf(report, column, value, row.currency) : '–';
  const text = textOf(report, column, value, row.currency);
  const href = value === 0 ? null : hrefOf(column, row, isRunning);
  if (href === null) return <span className="figures">{text}</span>;
  return (
    <TextLink href={href} className="figures">
      {text}
    </TextLink>
  );
}

function textOf(
  report: ReportName,
  column: string,
  value: number | null | undefined,
  currency: string,
): string {
  if (value == null) return 'Not recorded';
  const columns: Record<string, { of: string }> = REPORTS[report];
  return columns[column]?.of === 'count' ? formatNumber(value) : formatMoney(value, currency);
}
