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

/** Names and values of one record: a dash for null, nothing for undefined. */
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
  /** To the second, where instants are told apart by it. */
  seconds?: boolean;
}

/** A time in the service's zone, the exact instant on hover. */
export function Instant({ at, timeZone, seconds = false }: InstantProps) {
  return exactly(at, seconds ? formatSecond(at, timeZone) : formatInstant(at, timeZone));
}

/** The time of day alone, where the day stands above. */
export const Time = ({ at, timeZone }: { at: Date; timeZone: string }) =>
  exactly(at, formatTime(at, timeZone));

/** The same as the day alone, where a list has many times. */
export const Day = ({ at, timeZone }: { at: Date; timeZone: string }) => exactly(at, formatDay(at, timeZone));

function exactly(at: Date | string, text: string) {
  const exact = typeof at === 'string' ? at : at.toISOString();
  return (
    <time dateTime={exact} title={exact}>
      {text}
    </time>
  );
}

/** An amount in its currency's form. */
export function Money({ amount, currency }: { amount: number; currency: string }) {
  return <span className="figures">{formatMoney(amount, currency)}</span>;
}

interface PaidAmountProps {
  amount: number;
  currency: string;
  /** What came back of it. */
  refunded: number;
}

/** An amount, and beneath it what came back. */
export function PaidAmount({ amount, currency, refunded }: PaidAmountProps) {
  const money = <Money amount={amount} currency={currency} />;
  if (refunded === 0) return money;
  return <TwoLines below={`${formatMoney(refunded, currency)} refunded`}>{money}</TwoLines>;
}

/** A value and what explains it, in the height of one line. */
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

/** When a subscription is billed next, or ends; a dash once it has ended. */
export function nextBilling({ status, next_billing_date, cancel_at }: Billed, timeZone: string): string {
  if (status === 'cancelled') return '–';
  if (cancel_at) return `Ends ${formatDay(cancel_at, timeZone)}`;
  return next_billing_date ? formatDate(next_billing_date) : '–';
}
