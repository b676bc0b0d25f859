import { Group, Text } from '@mantine/core';
import Link from 'next/link';
import { toCalendarDate } from '@/lib/dates';
import { getRuntime } from '@/lib/runtime';
import { listTimeline } from '@/lib/timeline/list-timeline';
import type { TimelineEntry } from '@/lib/timeline/sources';
import { formatDate } from '../../../_components/format';
import { LinkButton } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { Time } from '../../_components/display/instant';
import { StatusBadge } from '../../_components/display/status-badge';
import { Nothing } from '../../_components/page/nothing';
import classes from './timeline.module.css';
import { toSentence } from './to-sentence';

interface Props {
  customerId: number;
  /** The cursor of an older page. */
  before: string | null;
  /** Also the events that change nothing here. */
  withIgnored: boolean;
  /** Admins see what programs asked too. */
  isAdmin: boolean;
}

/** What happened to a customer, the newest first. */
export async function Timeline({ customerId, before, withIgnored, isAdmin }: Props) {
  const { db, env } = await getRuntime();
  const { timeZone } = env;
  const { entries, older } = await listTimeline(db, customerId, {
    timeZone,
    before,
    withIgnored,
    withCalls: isAdmin,
  });
  if (entries.length === 0) {
    return before ? (
      <Nothing title="Nothing older" text="The timeline ends before this page." />
    ) : (
      <Nothing title="Nothing yet" text="Notes, payments, Stripe events and changes appear here." />
    );
  }
  const path = `/admin/customers/${customerId}`;
  const kept: Record<string, string> = withIgnored ? { events: 'all' } : {};
  return (
    <>
      {byDay(entries, timeZone).map(([day, ofDay]) => (
        <section key={day} aria-label={formatDate(day)}>
          <h3 className={classes.day}>
            <time dateTime={day}>{formatDate(day)}</time>
          </h3>
          <ol className={classes.timeline}>
            {ofDay.map((entry) => (
              <Entry key={keyOf(entry)} entry={entry} timeZone={timeZone} />
            ))}
          </ol>
        </section>
      ))}
      {(before || older) && (
        <Group justify="flex-end" gap="xs" p="md" pt={0}>
          {before && (
            <LinkButton href={`${toHref(path, kept)}#timeline`} variant="default" size="xs">
              Newest
            </LinkButton>
          )}
          {older && (
            <LinkButton
              href={`${toHref(path, { ...kept, before: older })}#timeline`}
              variant="default"
              size="xs"
            >
              Older
            </LinkButton>
          )}
        </Group>
      )}
    </>
  );
}

/** What happened on the same day together. */
function byDay(entries: TimelineEntry[], timeZone: string): [day: string, entries: TimelineEntry[]][] {
  const days = new Map<string, TimelineEntry[]>();
  for (const entry of entries) {
    const day = isOfDay(entry) ? entry.payment.payment_date : toCalendarDate(entry.at, timeZone);
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return [...days];
}

/** A payment may be known by its day alone. */
function isOfDay(entry: TimelineEntry): entry is Extract<TimelineEntry, { kind: 'payment' }> {
  return entry.kind === 'payment' && entry.isDayOnly;
}

function Entry({ entry, timeZone }: { entry: TimelineEntry; timeZone: string }) {
  const { icon: Icon, text, href, detail, body, status } = toSentence(entry, timeZone);
  return (
    <li className={classes.entry}>
      <span className={classes.icon}>
        <Icon size={16} stroke={1.6} aria-hidden />
      </span>
      <div className={classes.what}>
        <div className={classes.line}>
          {href ? (
            <Link href={href} className={classes.link} prefetch={false}>
              {text}
            </Link>
          ) : (
            <span className={classes.link}>{text}</span>
          )}
          {status && <StatusBadge status={status} />}
        </div>
        {body && (
          <Text size="sm" className={`break-anywhere ${classes.body}`}>
            {body}
          </Text>
        )}
        {detail && (
          <Text size="xs" c="dimmed" className="break-anywhere">
            {detail}
          </Text>
        )}
      </div>
      <span className={classes.when}>{!isOfDay(entry) && <Time at={entry.at} timeZone={timeZone} />}</span>
    </li>
  );
}

function keyOf(entry: TimelineEntry): string {
  if (entry.kind === 'payment') return `payment ${entry.payment.id}`;
  if (entry.kind === 'event') return entry.event.id;
  if (entry.kind === 'money_back') return `${entry.row.kind} ${entry.row.id}`;
  if (entry.kind === 'note') return `note ${entry.note.id}`;
  if (entry.kind === 'call') return `call ${entry.call.id}`;
  if (entry.kind === 'audit') return `audit ${entry.audit.id}`;
  const [first] = entry.changes;
  return `run ${entry.run_id} ${first?.entity} ${first?.entity_id}`;
}
