import {
  DataList,
  DataListItem,
  DataListItemLabel,
  DataListItemValue,
  Group,
  Text,
  type TextProps,
} from '@mantine/core';
import type { ReactNode } from 'react';
import {
  formatDate,
  formatDay,
  formatField,
  formatInstant,
  formatMoney,
  formatSecond,
  formatTime,
} from '@/app/_components/format';
import classes from './values.module.css';

/** Shows values with their labels. A null value is shown as a dash. A label with an undefined value is left out. */
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
  /** Whether to show seconds, for lists whose instants may differ only in seconds. */
  seconds?: boolean;
}

/** Shows the date and time of an instant in the given time zone, and the exact instant on hover. */
export function Instant({ at, timeZone, seconds = false }: InstantProps) {
  return exactly(at, seconds ? formatSecond(at, timeZone) : formatInstant(at, timeZone));
}

/** Shows the time of day of an instant, for lists that have the day as a heading. */
export const Time = ({ at, timeZone }: { at: Date; timeZone: string }) =>
  exactly(at, formatTime(at, timeZone));

/** Shows the day of an instant, for lists with many instants. */
export const Day = ({ at, timeZone }: { at: Date; timeZone: string }) => exactly(at, formatDay(at, timeZone));

function exactly(at: Date | string, text: string) {
  const exact = typeof at === 'string' ? at : at.toISOString();
  return (
    <time dateTime={exact} title={exact}>
      {text}
    </time>
  );
}

/** Shows an amount with the symbol and the decimals of its currency. */
export function Money({ amount, currency }: { amount: number; currency: string }) {
  return <span className="figures">{formatMoney(amount, currency)}</span>;
}

interface PaidAmountProps {
  amount: number;
  currency: string;
  /** Amount refunded to the customer, in the same currency. 0 if nothing was refunded. */
  refunded: number;
}

/** Shows a paid amount, and below it the refunded amount if there is one. */
export function PaidAmount({ amount, currency, refunded }: PaidAmountProps) {
  const money = <Money amount={amount} currency={currency} />;
  if (refunded === 0) return money;
  return <TwoLines below={`${formatMoney(refunded, currency)} refunded`}>{money}</TwoLines>;
}

/** Shows a value with an explanation below it. Both fit into the height of one table row. */
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

/** Formats when a subscription ends or is billed next. Returns a dash if it is cancelled or neither date is known. */
export function nextBilling({ status, next_billing_date, cancel_at }: Billed, timeZone: string): string {
  if (status === 'cancelled') return '–';
  if (cancel_at) return `Ends ${formatDay(cancel_at, timeZone)}`;
  return next_billing_date ? formatDate(next_billing_date) : '–';
}

interface BadgeProps {
  status: string;
  /** Text of the badge. Defaults to the name of the status. */
  children?: string;
}

/** Shows a state as a coloured badge. A list can show many badges, so a badge is plain HTML without client code. */
export function StatusBadge({ status, children = formatField(status) }: BadgeProps) {
  return (
    <span className={classes.badge} data-color={statusColor(status)}>
      {children}
    </span>
  );
}

/** Shows a remark in small, dimmed text. */
export function Dimmed(props: TextProps & { children: ReactNode }) {
  return <Text size="sm" c="dimmed" {...props} />;
}

/** Shows an important sum in large type. */
export function BigFigure(props: TextProps & { children: ReactNode }) {
  return <Text fw={600} fz="lg" className="figures" {...props} />;
}

/** Shows the title of a record, with its state as a badge. */
export function RecordTitle({ status, children }: { status: string; children: ReactNode }) {
  return (
    <Group gap="sm" component="span">
      {children}
      <StatusBadge status={status} />
    </Group>
  );
}

const STATES = {
  // The work is finished, or the record is in order.
  green: ['accepted', 'active', 'completed', 'fixed', 'ok', 'paid', 'processed', 'succeeded', 'valid', 'won'],
  // The work is in progress.
  blue: ['order', 'pending', 'running', 'sent', 'trialing', 'under_review', 'warning_under_review'],
  // A person may need to act.
  orange: [
    'completed_with_errors',
    'disputed',
    'expired',
    'incomplete',
    'interrupted',
    'maintenance',
    'needs_response',
    'overdue',
    'past_due',
    'paused',
    'refused',
    'reported',
    'suspended',
    'unmatched',
    'validation_failed',
    'warning_needs_response',
  ],
  // The work failed, money is missing, a customer is blocked, or a server is offline.
  red: ['blocked', 'error', 'failed', 'lost', 'offline', 'unpaid'],
  // The record has ended or has not started, or the work had no effect.
  gray: [
    'cancelled',
    'converted',
    'decommissioned',
    'deleted',
    'draft',
    'ignored',
    'inactive',
    'not_found',
    'prevented',
    'refunded',
    'rejected',
    'revoked',
    'stale',
    'terminated',
    'warning_closed',
  ],
};

/** The Mantine colour for each state of a record, run or event. */
export const STATUS_COLORS: ReadonlyMap<string, string> = new Map(
  Object.entries(STATES).flatMap(([color, states]) => states.map((state) => [state, color] as const)),
);

/** Returns the Mantine colour of a state, for badges and charts. An unknown state is gray. */
export const statusColor = (status: string): string => STATUS_COLORS.get(status) ?? 'gray';
