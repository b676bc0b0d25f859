import { Group, Text } from '@mantine/core';
import Link from 'next/link';
import { getRuntime } from '@/lib/runtime';
import type { TimelineEntry } from '@/lib/timeline/entry';
import { listTimeline } from '@/lib/timeline/list-timeline';
import { formatDate } from '../../../_components/format';
import { LinkButton } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { Instant } from '../../_components/instant';
import { Nothing } from '../../_components/nothing';
import { StatusBadge } from '../../_components/status-badge';
import { PATH } from '../path';
import classes from './timeline.module.css';
import { toSentence } from './to-sentence';

interface Props {
  customerId: number;
  /** The cursor of an older page. */
  before: string | null;
}

/** What happened to a customer, the newest first. */
export async function Timeline({ customerId, before }: Props) {
  const { db, env } = await getRuntime();
  const { entries, older } = await listTimeline(db, customerId, { timeZone: env.timeZone, before });
  if (entries.length === 0) {
    return before ? (
      <Nothing title="Nothing older" text="The timeline ends before this page." />
    ) : (
      <Nothing
        title="Nothing yet"
        text="Notes, payments, events of Stripe's and changes will be listed here."
      />
    );
  }
  const path = `${PATH}/${customerId}`;
  return (
    <>
      <ol className={classes.timeline}>
        {entries.map((entry) => (
          <Entry key={keyOf(entry)} entry={entry} timeZone={env.timeZone} />
        ))}
      </ol>
      {(before || older) && (
        <Group justify="flex-end" gap="xs" p="md" pt={0}>
          {before && (
            <LinkButton href={`${path}#timeline`} variant="default" size="xs">
              Newest
            </LinkButton>
          )}
          {older && (
            <LinkButton href={`${toHref(path, { before: older })}#timeline`} variant="default" size="xs">
              Older
            </LinkButton>
          )}
        </Group>
      )}
    </>
  );
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
      <span className={classes.when}>
        {entry.kind === 'payment' && entry.isDayOnly ? (
          <time dateTime={entry.payment.payment_date}>{formatDate(entry.payment.payment_date)}</time>
        ) : (
          <Instant at={entry.at} timeZone={timeZone} />
        )}
      </span>
    </li>
  );
}

function keyOf(entry: TimelineEntry): string {
  if (entry.kind === 'payment') return `payment ${entry.payment.id}`;
  if (entry.kind === 'event') return entry.event.id;
  if (entry.kind === 'money_back') return `${entry.row.kind} ${entry.row.id}`;
  if (entry.kind === 'note') return `note ${entry.note.id}`;
  if (entry.kind === 'audit') return `audit ${entry.audit.id}`;
  const [first] = entry.changes;
  return `run ${entry.run_id} ${first?.entity} ${first?.entity_id}`;
}
