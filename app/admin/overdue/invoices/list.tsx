import { toCalendarDate } from '@/lib/dates';
import {
  listOverdue,
  type OverdueInvoice,
  overdueCsv,
  overdueFilters,
} from '@/lib/invoices/overdue-worklist';
import { AGE_RANGES, type AgeName } from '@/lib/overdue';
import { formatCount, formatCustomer, formatDate } from '../../../_components/format';
import { StripeLink } from '../../_components/display/stripe-id';
import { Day, Money, TwoLines } from '../../_components/display/values';
import { declareList } from '../../_components/lists/list-declaration';
import { type Column, RecordList } from '../../_components/lists/record-list';
import { CustomerName } from '../../_components/records/customer-link';
import { invoiceName } from '../../_components/records/invoice-list';
import { AGE_GROUP_TEXTS, reminderText } from '../list';

export const OVERDUE = declareList({
  title: 'Overdue invoices',
  path: '/admin/overdue/invoices',
  file: 'overdue-invoices',
  noun: 'overdue invoice',
  yet: 'Invoices appear here the day after their due date, or when a payment fails or Stripe writes them off.',
  source: {
    schema: overdueFilters,
    read: (db, filters, { start }, { env, now }) =>
      listOverdue(db, filters, toCalendarDate(now(), env.timeZone), start),
    csv: (db, filters, { env, now }) => overdueCsv(db, filters, toCalendarDate(now(), env.timeZone)),
  },
  fields: () => [
    {
      name: 'age',
      label: 'Age',
      options: AGE_RANGES.map((value) => ({ value, label: AGE_TEXTS[value] })),
    },
    { name: 'currency', label: 'Currency', placeholder: 'Code, such as EUR' },
  ],
  Rows: ({ rows, sorting, timeZone }) => (
    <RecordList
      label="Overdue invoices"
      rows={rows}
      hrefOf={({ id }) => `/admin/invoices/${id}`}
      columns={columnsOf(timeZone)}
      entryOf={(invoice) => ({
        title: formatCustomer(invoice.customer),
        detail: (
          <>
            {invoiceName(invoice)} · {invoice.due_date && `Due ${formatDate(invoice.due_date)}, `}
            {daysText(invoice)}
            {invoice.payment_failed_at && (
              <>
                {' · Payment failed '}
                <Day at={invoice.payment_failed_at} timeZone={timeZone} />
              </>
            )}
            {invoice.last_reminder && ` · ${reminderText(invoice)}`}
          </>
        ),
        figure: <Money amount={invoice.amount_due} currency={invoice.currency} />,
      })}
      sorting={sorting}
    />
  ),
});

const columnsOf = (timeZone: string): Column<OverdueInvoice>[] => [
  {
    label: 'Invoice',
    width: '16%',
    cell: (invoice) => {
      const name = <strong>{invoiceName(invoice)}</strong>;
      return invoice.last_reminder ? <TwoLines below={reminderText(invoice)}>{name}</TwoLines> : name;
    },
  },
  { label: 'Customer', cell: ({ customer }) => <CustomerName customer={customer} /> },
  {
    label: 'Due',
    width: '15%',
    sort: 'due',
    cell: (invoice) =>
      invoice.due_date ? (
        <TwoLines below={daysText(invoice)}>{formatDate(invoice.due_date)}</TwoLines>
      ) : (
        daysText(invoice)
      ),
  },
  {
    label: 'First payment failure',
    width: '16%',
    cell: ({ payment_failed_at: failed }) => (failed ? <Day at={failed} timeZone={timeZone} /> : '–'),
  },
  {
    label: 'Balance due',
    width: '13%',
    align: 'right',
    sort: 'open',
    descends: true,
    cell: ({ amount_due, currency }) => <Money amount={amount_due} currency={currency} />,
  },
  {
    label: 'Stripe',
    width: '9%',
    cell: (invoice) =>
      invoice.stripe_invoice_id ? (
        <span style={{ position: 'relative', zIndex: 1 }}>
          <StripeLink
            path={`invoices/${invoice.stripe_invoice_id}`}
            label={`Open invoice ${invoiceName(invoice)} at Stripe`}
          >
            Open
          </StripeLink>
        </span>
      ) : (
        '–'
      ),
  },
];

function daysText({ days }: OverdueInvoice): string {
  return days > 0 ? `${formatCount(days, 'day')} overdue` : 'Not due yet';
}

/** Texts for the ages of overdue invoices. A failed payment or a write-off makes an invoice overdue early. */
export const AGE_TEXTS: Record<AgeName, string> = {
  ...AGE_GROUP_TEXTS,
  'not-due': 'Payment failed or written off, not due yet',
  'over-30': 'Over 30 days',
  'over-60': 'Over 60 days',
};
