import { Fragment, type ReactNode } from 'react';
import { formatField } from '@/app/_components/format';
import { isUnanswered, type MoneyBackRow } from '@/lib/payments/money-back';
import { Day, Instant } from '../../display/instant';

interface Props {
  row: MoneyBackRow;
  timeZone: string;
}

/** Why, by when an answer is due, and what happened to the money; a dash where nothing is known. */
export function MoneyBackDetails({ row, timeZone }: Props) {
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
