import { Group, Stack, Text } from '@mantine/core';
import { redirect } from 'next/navigation';
import { formatCustomer, formatDate, formatMoney } from '@/app/_components/format';
import { withParams } from '@/app/_components/with-params';
import { findErasedAt } from '@/lib/customers/queries';
import { pastPresets, toCalendarDate } from '@/lib/dates';
import {
  readStatements,
  type Statement,
  type StatementEntry,
  statementPeriod,
} from '@/lib/documents/statement-entries';
import { Money } from '../../../_components/display/values';
import { FilterBar } from '../../../_components/lists/filter-bar';
import { parseFilters } from '../../../_components/lists/list-declaration';
import { DownloadButton } from '../../../_components/lists/list-page';
import { type Column, RecordList } from '../../../_components/lists/record-list';
import { Notice } from '../../../_components/page/notice';
import { Nothing, Page, recordPage, Section, titleOfRow } from '../../../_components/page/staff-page';
import { readCustomer } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Statement of account',
  readCustomer,
  (one) => `Statement of account of ${formatCustomer(one)}`,
);

const NO_PDF =
  'There is no PDF. Possible reasons: the company or the customer has no name or address, a name contains a character that is missing from the document font, or the period has too many entries.';

/** Maximum number of entries per currency on the page. The CSV file contains all entries, and so does a PDF. */
const SHOWN = 500;

/** Shows a customer's statement of account for a period, with the running balance of each currency. */
export default recordPage(
  readCustomer,
  async (customer, { id, db, search, notice, timeZone, runtime: { now } }) => {
    const path = `/admin/customers/${customer.id}/statement`;
    if (customer.id !== id) redirect(withParams(path, search, {}));
    const { filters: period, problems, params } = parseFilters(statementPeriod, search);
    const statements = period ? await readStatements(db, id, period, timeZone) : [];
    const isErased = (await findErasedAt(db, id)) !== null;
    const today = toCalendarDate(now(), timeZone);
    return (
      <Page
        back={{ href: `/admin/customers/${id}`, label: 'Customer' }}
        title="Statement of account"
        description={`${formatCustomer(customer)}, as of ${formatDate(today)}`}
        notice={notice === 'no_pdf' && <Notice tone="refused">{NO_PDF}</Notice>}
        actions={
          period && (
            <Group gap="sm">
              <DownloadButton href={withParams(`${path}/export`, params, {})} />
              {!isErased && (
                <DownloadButton href={withParams(`${path}/document`, params, {})}>
                  Download PDF
                </DownloadButton>
              )}
            </Group>
          )
        }
      >
        <FilterBar
          key={params.toString()}
          label="Period of the statement"
          path={path}
          fields={[{ name: 'from', label: 'Period', presets: pastPresets(today) }]}
          values={Object.fromEntries(params)}
          problems={problems}
        />
        {period && statements.length === 0 && (
          <Nothing
            title="No entries yet"
            text="They appear here as soon as an invoice is issued or money is received."
          />
        )}
        {statements.map((statement) => (
          <StatementSection key={statement.currency} statement={statement} />
        ))}
      </Page>
    );
  },
);

function StatementSection({ statement: { currency, opening, entries, closing } }: { statement: Statement }) {
  const shown = entries.slice(-SHOWN);
  const isCut = shown.length < entries.length;
  const first = isCut ? (entries.at(-SHOWN - 1)?.balance ?? opening) : opening;
  return (
    <Section title={currency.toUpperCase()}>
      <Stack gap={0}>
        <BalanceLine
          label={
            isCut
              ? `Balance before the latest ${SHOWN} entries (the files contain all entries)`
              : 'Opening balance'
          }
          text={formatMoney(first, currency)}
        />
        {shown.length > 0 && (
          <RecordList
            label={`Entries in ${currency.toUpperCase()}`}
            rows={shown.map((entry, at) => ({ ...entry, id: at, currency }))}
            hrefOf={({ record }) => `${PATHS[record.of]}/${record.id}`}
            nameOf={({ kind, reference }) => `${KINDS[kind]} ${reference}`}
            columns={COLUMNS}
            entryOf={(entry) => ({
              title: `${KINDS[entry.kind]} ${entry.reference}`,
              detail: formatDate(entry.date),
              figure: <Money amount={entry.amount} currency={currency} />,
              state: `Balance ${formatMoney(entry.balance, currency)}`,
            })}
          />
        )}
        <BalanceLine
          label={closing < 0 ? 'Closing balance (customer credit)' : 'Closing balance'}
          text={formatMoney(closing, currency)}
        />
      </Stack>
    </Section>
  );
}

const BalanceLine = ({ label, text }: Record<'label' | 'text', string>) => (
  <Group justify="space-between" px="md" py="sm" gap="md">
    <Text size="sm" fw={500}>
      {label}
    </Text>
    <Text size="sm" fw={500} className="figures">
      {text}
    </Text>
  </Group>
);

type Row = StatementEntry & { id: number; currency: string };

const PATHS = {
  invoice: '/admin/invoices',
  payment: '/admin/payments',
  transfer: '/admin/payments/transfers',
};

const KINDS: Record<StatementEntry['kind'], string> = {
  invoice: 'Invoice',
  credit_note: 'Credit note',
  cancellation: 'Cancellation',
  settled: 'Settled otherwise',
  payment: 'Payment',
  refund: 'Refund',
  credit: 'Credit',
  paid_back: 'Credit paid back',
};

const COLUMNS: Column<Row>[] = [
  { label: 'Date', width: '14%', cell: ({ date }) => formatDate(date) },
  { label: 'Entry', width: '20%', cell: ({ kind }) => KINDS[kind] },
  { label: 'Reference', cell: ({ reference }) => reference, title: true },
  {
    label: 'Owed',
    width: '15%',
    align: 'right',
    cell: ({ amount, currency }) => (amount > 0 ? <Money amount={amount} currency={currency} /> : '–'),
  },
  {
    label: 'Settled',
    width: '15%',
    align: 'right',
    cell: ({ amount, currency }) => (amount < 0 ? <Money amount={-amount} currency={currency} /> : '–'),
  },
  {
    label: 'Balance',
    width: '15%',
    align: 'right',
    cell: ({ balance, currency }) => <Money amount={balance} currency={currency} />,
  },
];
