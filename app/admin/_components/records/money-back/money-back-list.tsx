import { Fragment, type ReactNode } from 'react';
import { formatField } from '@/app/_components/format';
import { StripeLink } from '@/app/admin/_components/display/stripe-id';
import { Section } from '@/app/admin/_components/page/section';
import { isUnanswered, type MoneyBackRow } from '@/lib/payments/money-back';
import { TextLink } from '../../../../_components/links';
import { StatusBadge } from '../../display/status';
import { Day, Instant, Money } from '../../display/values';
import { type Column, RecordList } from '../../lists/record-list';
import classes from './money-back.module.css';
import { MONEY_BACK_KINDS, moneyBackSource, moneyBackStatus } from './words';

interface MoneyBackSectionProps {
  rows: MoneyBackRow[];
  timeZone: string;
  namesPayments?: boolean;
}

/** Refunds and disputes of one record, where there are any. */
export function MoneyBackSection(props: MoneyBackSectionProps) {
  if (props.rows.length === 0) return null;
  return (
    <Section title="Refunds and disputes">
      <MoneyBackList {...props} />
    </Section>
  );
}

interface MoneyBackListProps {
  rows: MoneyBackRow[];
  timeZone: string;
  /** Of several payments: names them. */
  namesPayments?: boolean;
}

/** Refunds and disputes. */
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

/** Who told of it, and where it is at Stripe. */
function Source({ row }: { row: MoneyBackRow }) {
  const source = moneyBackSource(row);
  return (
    <span>
      {source !== 'Stripe' && `${source} `}
      <MoneyBackLink row={row}>Stripe</MoneyBackLink>
    </span>
  );
}

function PaymentName({ row: { payment_id, payment_reference } }: { row: MoneyBackRow }) {
  if (payment_id === null) return 'No matching payment';
  return <TextLink href={`/admin/payments/${payment_id}`}>{payment_reference}</TextLink>;
}

interface MoneyBackDetailsProps {
  row: MoneyBackRow;
  timeZone: string;
}

/** Why, by when an answer is due, and what happened to the money; a dash where nothing is known. */
function MoneyBackDetails({ row, timeZone }: MoneyBackDetailsProps) {
  const parts = partsOf(row, timeZone).filter(([, part]) => part);
  if (parts.length === 0) return '–';
  return parts.map(([name, part], i) => (
    <Fragment key={name}>
      {i > 0 && ' · '}
      {part}
    </Fragment>
  ));
}

function partsOf(row: MoneyBackRow, timeZone: string): [name: string, part: ReactNode][] {
  const day = (text: string, at: Date | null) =>
    at && (
      <>
        {text} <Day at={at} timeZone={timeZone} />
      </>
    );
  const ofDispute: [string, ReactNode][] =
    row.kind === 'refund'
      ? []
      : [
          ['due', isUnanswered(row) && row.evidence_due_at && dueText(row.evidence_due_at, timeZone)],
          ['withdrawn', day('Funds withdrawn', row.funds_withdrawn_at)],
          ['returned', day('Funds returned', row.funds_returned_at)],
        ];
  return [
    ['reason', row.reason && formatField(row.reason)],
    ...ofDispute,
    ['gone', day('Not found at Stripe since', row.provider_gone_at)],
  ];
}

function dueText(at: Date, timeZone: string) {
  return (
    <strong>
      Evidence due <Instant at={at} timeZone={timeZone} />
    </strong>
  );
}

interface MoneyBackLinkProps {
  row: MoneyBackRow;
  children: string;
}

/** To a dispute at Stripe, or to the payment that was refunded there; nothing for what Stripe does not know. */
function MoneyBackLink({ row, children }: MoneyBackLinkProps) {
  const { kind, stripe_id, stripe_payment } = row;
  if (stripe_id === null) return null;
  const path = kind === 'dispute' ? `disputes/${stripe_id}` : stripe_payment && `payments/${stripe_payment}`;
  if (!path) return children;
  return (
    <StripeLink path={path} label={`Stripe: ${kind} ${stripe_id}`}>
      {children}
    </StripeLink>
  );
}
