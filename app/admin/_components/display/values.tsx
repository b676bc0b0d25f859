import { DataList, DataListItem, DataListItemLabel, DataListItemValue } from '@mantine/core';
import type { ReactNode } from 'react';
import {
  formatDate,
  formatDay,
  formatInstant,
  formatMoney,
  formatSecond,
  formatTime,
} from '@/app/_components/format';
import classes from './two-lines.module.css';

/** Names and values of a record. Null is shown as a dash, undefined is left out. */
export function Facts({ facts }: { facts: Record<string, ReactNode> }) {
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return (
    <DataList p="md" gap="sm" labelWidth="8.5rem">
      {known.map(([label, value]) => (
        <DataListItem key={label}>
          <DataListItemLabel>{label}</DataListItemLabel>
          <DataListItemValue className="break-anywhere">{value ?? '–'}</DataListItemValue>
        </DataListItem>
      ))}
    </DataList>
  );
}

interface InstantProps {
  at: Date | string;
  timeZone: string;
  /** Shows seconds, for lists of instants that differ only in seconds. */
  seconds?: boolean;
}

/** A date and time in the given time zone, with the exact instant on hover. */
export function Instant({ at, timeZone, seconds = false }: InstantProps) {
  return exactly(at, seconds ? formatSecond(at, timeZone) : formatInstant(at, timeZone));
}

/** The time of day, for lists with the day as a heading. */
export const Time = ({ at, timeZone }: { at: Date; timeZone: string }) =>
  exactly(at, formatTime(at, timeZone));

/** The day, for lists with many instants. */
export const Day = ({ at, timeZone }: { at: Date; timeZone: string }) => exactly(at, formatDay(at, timeZone));

function exactly(at: Date | string, text: string) {
  const exact = typeof at === 'string' ? at : at.toISOString();
  return (
    <time dateTime={exact} title={exact}>
      {text}
    </time>
  );
}

/** An amount in the format of its currency. */
export function Money({ amount, currency }: { amount: number; currency: string }) {
  return <span className="figures">{formatMoney(amount, currency)}</span>;
}

interface PaidAmountProps {
  amount: number;
  currency: string;
  /** The part that went back to the customer. */
  refunded: number;
}

/** A paid amount, with the refunded part below. */
export function PaidAmount({ amount, currency, refunded }: PaidAmountProps) {
  const money = <Money amount={amount} currency={currency} />;
  if (refunded === 0) return money;
  return <TwoLines below={`${formatMoney(refunded, currency)} refunded`}>{money}</TwoLines>;
}

/** A value with an explanation below, in the height of one line. */
export function TwoLines({ children, below }: { children: ReactNode; below: ReactNode }) {
  return (
    <span className={classes.both}>
      {children}
      <span className={classes.below}>{below}</span>
    </span>
  );
}

interface Billed {
  status: string;
  next_billing_date: string | null;
  cancel_at: Date | null;
}

/** Returns the next billing date or the planned end of a subscription. Returns a dash if it has ended. */
export function nextBilling({ status, next_billing_date, cancel_at }: Billed, timeZone: string): string {
  if (status === 'cancelled') return '–';
  if (cancel_at) return `Ends ${formatDay(cancel_at, timeZone)}`;
  return next_billing_date ? formatDate(next_billing_date) : '–';
}
