import { Fragment, type ReactNode } from 'react';
import { formatField } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import { isUnanswered, type MoneyBackRow } from '@/lib/payments/money-back';
import { StripeLink } from '../../display/stripe-id';
import { Day, Instant, Money, StatusBadge } from '../../display/values';
import { type Column, RecordList } from '../../lists/record-list';
import { Section } from '../../page/staff-page';
import classes from './money-back.module.css';

interface MoneyBackListProps {
  rows: MoneyBackRow[];
  timeZone: string;
  /** Whether each row names its payment, for lists that contain rows of several payments. */
  namesPayments?: boolean;
}

/** Shows the section with the refunds and disputes of a record. Shows nothing if there are none. */
export function MoneyBackSection(props: MoneyBackListProps) {
  if (props.rows.length === 0) return null;
  return (
    <Section title="Refunds and disputes">
      <MoneyBackList {...props} />
    </Section>
  );
}

/** Shows refunds and disputes in one list. */
export function MoneyBackList({ rows, timeZone, namesPayments = false }: MoneyBackListProps) {
  return (
    <RecordList
      label="Refunds and disputes"
      rows={rows}
      keyOf={({ kind, id }) => `${kind} ${id}`}
      columns={columnsOf(timeZone).filter(({ label }) => namesPayments || label !== 'Payment')}
      entryOf={(row) => ({
        title: MONEY_BACK_KINDS[row.kind],
        detail: (
          <span className={classes.detail}>
            <span>
              <Day at={row.issued_at} timeZone={timeZone} />
              {' · '}
              <MoneyBackDetails row={row} timeZone={timeZone} />
            </span>
            {namesPayments && <PaymentName row={row} />}
            <Source row={row} />
          </span>
        ),
        figure: <Money amount={row.amount} currency={row.currency} />,
        state: <State row={row} />,
      })}
    />
  );
}

function columnsOf(timeZone: string): Column<MoneyBackRow>[] {
  return [
    {
      label: 'Date',
      width: '12.5%',
      wraps: true,
      cell: ({ issued_at }) => <Day at={issued_at} timeZone={timeZone} />,
    },
    { label: 'What', width: '9%', wraps: true, cell: ({ kind }) => MONEY_BACK_KINDS[kind] },
    { label: 'Payment', width: '17%', wraps: true, cell: (row) => <PaymentName row={row} /> },
    { label: 'Status', width: '18.5%', wraps: true, cell: (row) => <State row={row} /> },
    { label: 'Details', wraps: true, cell: (row) => <MoneyBackDetails row={row} timeZone={timeZone} /> },
    { label: 'Source', width: '11%', wraps: true, cell: (row) => <Source row={row} /> },
    {
      label: 'Amount',
      width: '12.5%',
      align: 'right',
      wraps: true,
      cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
    },
  ];
}

function State({ row }: { row: MoneyBackRow }) {
  return <StatusBadge status={row.status}>{moneyBackStatus(row)}</StatusBadge>;
}

/** Shows the source of a refund or dispute, and links to the dispute or the refunded payment if Stripe knows it. */
function Source({ row }: { row: MoneyBackRow }) {
  const { kind, stripe_id, stripe_payment } = row;
  const source = moneyBackSource(row);
  const path = kind === 'dispute' ? `disputes/${stripe_id}` : stripe_payment && `payments/${stripe_payment}`;
  return (
    <span>
      {source !== 'Stripe' && `${source} `}
      {stripe_id !== null &&
        (path ? (
          <StripeLink path={path} label={`Stripe: ${kind} ${stripe_id}`}>
            Stripe
          </StripeLink>
        ) : (
          'Stripe'
        ))}
    </span>
  );
}

function PaymentName({ row: { payment_id, payment_reference } }: { row: MoneyBackRow }) {
  if (payment_id === null) return 'No matching payment';
  return <TextLink href={`/admin/payments/${payment_id}`}>{payment_reference}</TextLink>;
}

/** Shows the reason and dates of a refund or dispute. Shows a dash if none of them is known. */
function MoneyBackDetails({ row, timeZone }: { row: MoneyBackRow; timeZone: string }) {
  const day = (text: string, at: Date | null) =>
    at && (
      <>
        {text} <Day at={at} timeZone={timeZone} />
      </>
    );
  const isDispute = row.kind === 'dispute';
  const due = isDispute && isUnanswered(row) && row.evidence_due_at;
  const all: [name: string, part: ReactNode][] = [
    ['reason', row.reason && formatField(row.reason)],
    [
      'due',
      due && (
        <strong>
          Evidence due <Instant at={due} timeZone={timeZone} />
        </strong>
      ),
    ],
    ['withdrawn', isDispute && day('Funds withdrawn', row.funds_withdrawn_at)],
    ['returned', isDispute && day('Funds returned', row.funds_returned_at)],
    ['gone', day('Not found at Stripe since', row.provider_gone_at)],
  ];
  const parts = all.filter(([, part]) => part);
  if (parts.length === 0) return '–';
  return parts.map(([name, part], i) => (
    <Fragment key={name}>
      {i > 0 && ' · '}
      {part}
    </Fragment>
  ));
}

export const MONEY_BACK_KINDS: Record<MoneyBackRow['kind'], string> = {
  refund: 'Refund',
  dispute: 'Dispute',
};

const DISPUTES: Record<Extract<MoneyBackRow, { kind: 'dispute' }>['status'], string> = {
  warning_needs_response: 'Inquiry: answer needed',
  warning_under_review: 'Inquiry: under review',
  warning_closed: 'Inquiry closed',
  needs_response: 'Answer needed',
  under_review: 'Under review',
  won: 'Won',
  lost: 'Lost',
  prevented: 'Prevented',
};

const SOURCES = { stripe: 'Stripe', staff: 'Staff', api: 'Payments API' };

/** Returns the text of a dispute's status. An unknown status is formatted like any other field value. */
export function disputeText(status: string): string {
  return DISPUTES[status as keyof typeof DISPUTES] ?? formatField(status);
}

export function moneyBackStatus({ kind, status }: MoneyBackRow): string {
  return kind === 'dispute' ? disputeText(status) : formatField(status);
}

/** Returns the display name of the source of a refund or dispute. Disputes always come from Stripe. */
export function moneyBackSource(row: MoneyBackRow): string {
  return SOURCES[row.kind === 'refund' ? row.source : 'stripe'];
}
