import { formatDate, formatInstant, formatSecond, formatTime } from '@/app/_components/format';
import { toCalendarDate } from '@/lib/dates';

interface Props {
  at: Date | string;
  timeZone: string;
  /** To the second, where instants are told apart by it. */
  seconds?: boolean;
}

/** A time in the service's zone, the exact instant on hover. */
export function Instant({ at, timeZone, seconds = false }: Props) {
  const exact = typeof at === 'string' ? at : at.toISOString();
  return (
    <time dateTime={exact} title={exact}>
      {seconds ? formatSecond(at, timeZone) : formatInstant(at, timeZone)}
    </time>
  );
}

/** The time of day alone, where the day stands above. */
export function Time({ at, timeZone }: { at: Date; timeZone: string }) {
  return (
    <time dateTime={at.toISOString()} title={at.toISOString()}>
      {formatTime(at, timeZone)}
    </time>
  );
}

/** The same as the day alone, where a list has many times. */
export function Day({ at, timeZone }: { at: Date; timeZone: string }) {
  return (
    <time dateTime={at.toISOString()} title={at.toISOString()}>
      {formatDate(toCalendarDate(at, timeZone))}
    </time>
  );
}
