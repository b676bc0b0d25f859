import {
  Badge,
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

interface BadgeProps {
  status: string;
  /** Text of the badge. Defaults to the name of the status. */
  children?: string;
}

/** A badge for a state of any of our enums, in a calm colour for usual states. */
export function StatusBadge({ status, children = formatField(status) }: BadgeProps) {
  return (
    <Badge variant="light" radius="sm" size="md" tt="none" fw={500} color={statusColor(status)}>
      {children}
    </Badge>
  );
}

/** A remark in small, dimmed text. */
export function Dimmed(props: TextProps & { children: ReactNode }) {
  return <Text size="sm" c="dimmed" {...props} />;
}

/** An important sum in large type. */
export function BigFigure(props: TextProps & { children: ReactNode }) {
  return <Text fw={600} fz="lg" className="figures" {...props} />;
}

/** The title of a record with its state. */
export function RecordTitle({ status, children }: { status: string; children: ReactNode }) {
  return (
    <Group gap="sm" component="span">
      {children}
      <StatusBadge status={status} />
    </Group>
  );
}

const STATES = {
  // Good.
  green: ['accepted', 'active', 'completed', 'fixed', 'ok', 'paid', 'processed', 'succeeded', 'valid', 'won'],
  // In progress.
  blue: ['order', 'pending', 'running', 'sent', 'trialing', 'under_review', 'warning_under_review'],
  // Needs a person's attention.
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
  // Failed, or money is missing.
  red: ['blocked', 'error', 'failed', 'lost', 'offline', 'unpaid'],
  // Ended, or not started.
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

/** The colour of each state of our enums. */
export const STATUS_COLORS: ReadonlyMap<string, string> = new Map(
  Object.entries(STATES).flatMap(([color, states]) => states.map((state) => [state, color] as const)),
);

/** Returns the colour of a state, for badges and charts. */
export const statusColor = (status: string): string => STATUS_COLORS.get(status) ?? 'gray';
