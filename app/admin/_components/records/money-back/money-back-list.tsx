import type { MoneyBackRow } from '@/lib/payments/money-back';
import { TextLink } from '../../../../_components/links';
import { Day } from '../../display/instant';
import { Money } from '../../display/money';
import { StatusBadge } from '../../display/status-badge';
import { type Column, RecordList } from '../../lists/record-list';
import classes from './money-back.module.css';
import { MoneyBackDetails } from './money-back-details';
import { MoneyBackLink } from './money-back-link';
import { MONEY_BACK_KINDS, moneyBackSource, moneyBackStatus } from './words';

interface Props {
  rows: MoneyBackRow[];
  timeZone: string;
  /** Of several payments: names them. */
  namesPayments?: boolean;
}

/** Refunds and disputes. */
export function MoneyBackList({ rows, timeZone, namesPayments = false }: Props) {
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
