import { toCalendarDate } from '@/lib/dates';
import { getReminderRules } from '@/lib/documents/reminder-letter';
import { type Receivable, receivableList } from '@/lib/invoices/receivables';
import { type Reminder, reminderList } from '@/lib/invoices/reminders';
import { AGE_GROUPS, type AgeGroup } from '@/lib/overdue';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { listStaffTasks } from '@/lib/tasks/staff-tasks';
import {
  formatCount,
  formatCustomer,
  formatDate,
  formatDay,
  formatMoney,
  joinTexts,
} from '../../_components/format';
import { Money, TwoLines } from '../_components/display/values';
import { customerField, declareList } from '../_components/lists/list-declaration';
import { Choice } from '../_components/lists/paged-list';
import { type Column, RecordList } from '../_components/lists/record-list';
import { CustomerName } from '../_components/records/customer-link';
import { TaskNotice } from '../_components/records/record-alerts';

const listOf = ({ env, now }: Runtime) => receivableList(toCalendarDate(now(), env.timeZone));

export const RECEIVABLES = declareList({
  title: 'Receivables',
  description: 'What customers owe, by currency and by days since the due date.',
  path: '/admin/overdue',
  file: 'receivables',
  noun: 'receivable',
  yet: 'A customer appears here as soon as an invoice is open.',
  source: {
    // The date affects only the age groups in the rows, so the schema can use any date.
    schema: receivableList('2000-01-01').schema,
    read: (db, filters, place, runtime) => listOf(runtime).read(db, filters, place),
    csv: (db, filters, runtime) => listOf(runtime).csv(db, filters),
  },
  fields: () => [customerField],
  Rows: ({ rows, sorting, timeZone }) => (
    <RecordList
      label="Receivables"
      rows={rows}
      keyOf={({ id, currency }) => `${id} ${currency}`}
      hrefOf={({ id }) => `/admin/customers/${id}`}
      isDense
      columns={columnsOf(timeZone)}
      entryOf={(row) => ({
        title: formatCustomer(row.customer),
        detail: joinTexts(
          formatCount(row.invoice_count, 'invoice'),
          `oldest due ${formatDate(row.oldest_due)}`,
          ...AGE_GROUPS.map(
            (age) => row[COLUMNS[age]] > 0 && `${AGE_GROUP_TEXTS[age]}: ${moneyOf(row, row[COLUMNS[age]])}`,
          ),
          row.last_payment && `last payment ${formatDate(row.last_payment)}`,
          row.last_note && `last note ${formatDay(row.last_note, timeZone)}`,
          row.last_reminder && reminderText(row),
        ),
        figure: moneyOf(row, row.open_amount),
        state: row.credit > 0 && `${moneyOf(row, row.credit)} credit`,
      })}
      sorting={sorting}
    />
  ),
});

export const AGE_GROUP_TEXTS: Record<AgeGroup, string> = {
  'not-due': 'Not due',
  '1-30': '1–30 days',
  '31-60': '31–60 days',
  '61-90': '61–90 days',
  'over-90': 'Over 90 days',
};

/** The field of a receivable that holds the sum of each age group. */
const COLUMNS = {
  'not-due': 'not_due',
  '1-30': 'days_1_30',
  '31-60': 'days_31_60',
  '61-90': 'days_61_90',
  'over-90': 'over_90_days',
} as const satisfies Record<AgeGroup, keyof Receivable>;

const moneyOf = ({ currency }: Receivable, amount: number) => formatMoney(amount, currency);

const columnsOf = (timeZone: string): Column<Receivable>[] => [
  {
    label: 'Customer',
    cell: (row) => {
      const name = <CustomerName customer={row.customer} />;
      return row.last_reminder ? <TwoLines below={reminderText(row)}>{name}</TwoLines> : name;
    },
  },
  {
    label: 'Open',
    width: '10%',
    align: 'right',
    sort: 'open',
    descends: true,
    cell: (row) => {
      const open = <Money amount={row.open_amount} currency={row.currency} />;
      return row.credit > 0 ? <TwoLines below={`${moneyOf(row, row.credit)} credit`}>{open}</TwoLines> : open;
    },
  },
  {
    label: 'Oldest due',
    width: '10%',
    sort: 'due',
    below: { label: 'Invoices', sort: 'invoices', descends: true },
    cell: ({ oldest_due, invoice_count }) => (
      <TwoLines below={formatCount(invoice_count, 'invoice')}>{formatDate(oldest_due)}</TwoLines>
    ),
  },
  ...AGE_GROUPS.map(
    (age): Column<Receivable> => ({
      label: AGE_GROUP_TEXTS[age],
      width: '9%',
      align: 'right',
      sort: age,
      descends: true,
      cell: (row) =>
        row[COLUMNS[age]] > 0 ? <Money amount={row[COLUMNS[age]]} currency={row.currency} /> : '–',
    }),
  ),
  {
    label: 'Last payment',
    width: '10%',
    sort: 'payment',
    below: { label: 'Last note', sort: 'note', descends: true },
    cell: ({ last_payment, last_note }) => (
      <TwoLines below={last_note ? `Note ${formatDay(last_note, timeZone)}` : 'No note'}>
        {last_payment ? formatDate(last_payment) : '–'}
      </TwoLines>
    ),
  },
];

interface Reminded {
  last_reminder: string | null;
  reminder_level: number | null;
}

/** Describes the level and date of the last reminder. Returns '' if no reminder was recorded. */
export const reminderText = ({ last_reminder, reminder_level }: Reminded): string =>
  last_reminder === null ? '' : `Reminder ${reminder_level} on ${formatDate(last_reminder)}`;

/** The name of each reminder level. */
export const LEVEL_TEXTS = { '1': 'First reminder', '2': 'Second reminder', '3': 'Third reminder' };

/** Returns the list of reminders. Its rows depend on the settings and on today's date, but its schema does not. */
const reminders = async ({ db, env, now }: Runtime) =>
  reminderList(await getReminderRules(db), toCalendarDate(now(), env.timeZone));

export const REMINDERS = declareList({
  title: 'Reminders',
  description: 'Customers with invoices due for a payment reminder. This service sends no e-mail.',
  path: '/admin/overdue/reminders',
  file: 'reminders',
  noun: 'reminder',
  yet: 'A customer appears here when an invoice has been overdue for the number of days in the settings.',
  source: {
    schema: reminderList({ days: [], pause: 1 }, '2000-01-01').schema,
    read: async (db, filters, place, runtime) => (await reminders(runtime)).read(db, filters, place),
    async *csv(db, filters, runtime) {
      yield* (await reminders(runtime)).csv(db, filters);
    },
  },
  fields: () => [customerField],
  Rows: ({ rows, sorting }) => (
    <RecordList
      label="Reminders"
      rows={rows}
      hrefOf={({ customer }) => `/admin/overdue/reminders/${customer.id}`}
      columns={REMINDER_COLUMNS}
      entryOf={(row) => ({
        title: formatCustomer(row.customer),
        detail: joinTexts(
          `Reminder ${row.level}`,
          formatCount(row.invoice_count, 'invoice'),
          `${formatCount(row.days, 'day')} overdue`,
          row.last_reminder && `last reminder ${formatDate(row.last_reminder)}`,
        ),
        figure: amountsOf(row),
      })}
      sorting={sorting}
    />
  ),
});

const amountsOf = ({ amounts }: Reminder) =>
  amounts.map(({ amount, currency }) => formatMoney(amount, currency)).join(', ');

const REMINDER_COLUMNS: Column<Reminder>[] = [
  { label: 'Customer', cell: ({ customer }) => <CustomerName customer={customer} /> },
  { label: 'Level', width: '9%', cell: ({ level }) => String(level) },
  {
    label: 'Oldest due',
    width: '18%',
    sort: 'due',
    cell: ({ oldest_due, days }) => (
      <TwoLines below={`${formatCount(days, 'day')} overdue`}>{formatDate(oldest_due)}</TwoLines>
    ),
  },
  {
    label: 'Last reminder',
    width: '15%',
    cell: ({ last_reminder }) => (last_reminder ? formatDate(last_reminder) : '–'),
  },
  { label: 'Invoices', width: '10%', align: 'right', cell: ({ invoice_count }) => String(invoice_count) },
  {
    label: 'Due',
    width: '18%',
    align: 'right',
    cell: (row) => <span className="figures">{amountsOf(row)}</span>,
  },
];

/** Shows links to the three lists of what customers owe, and the staff tasks about lost disputes. */
export async function OverdueViews({ current }: { current: 'customers' | 'invoices' | 'reminders' }) {
  const { db } = await getRuntime();
  // Tasks about Stripe invoices whose payment was lost in a dispute. Stripe still reports these invoices as
  // paid, so none of the lists contains them.
  const lostPaymentTasks = await listStaffTasks(db, { kind: 'money_came_back' });
  return (
    <>
      <TaskNotice tasks={lostPaymentTasks} />
      <Choice
        label="View"
        mb="md"
        current={current}
        options={[
          { value: 'customers', text: 'By customer', href: '/admin/overdue' },
          { value: 'invoices', text: 'Overdue invoices', href: '/admin/overdue/invoices' },
          { value: 'reminders', text: 'Reminders', href: REMINDERS.path },
        ]}
      />
    </>
  );
}
