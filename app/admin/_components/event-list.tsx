import {
  Box,
  Group,
  Stack,
  Table,
  TableTbody,
  TableTd,
  TableTh,
  TableThead,
  TableTr,
  Text,
} from '@mantine/core';
import Link from 'next/link';
import type { EventRow } from '@/lib/sync/inbox-queries';
import { formatSecond } from './format-second';
import classes from './list.module.css';
import { StatusBadge } from './status-badge';

interface Props {
  events: EventRow[];
  timeZone: string;
}

/** Events of Stripe's as a table, on a narrow screen as a list. */
export function EventList(props: Props) {
  return (
    <>
      <Box visibleFrom="sm">
        <WideList {...props} />
      </Box>
      <Box hiddenFrom="sm">
        {props.events.map((event) => (
          <NarrowEntry key={event.id} event={event} timeZone={props.timeZone} />
        ))}
      </Box>
    </>
  );
}

function WideList({ events, timeZone }: Props) {
  return (
    <Table className={classes.table ?? ''} layout="fixed" highlightOnHover>
      <TableThead>
        <TableTr>
          <TableTh w="22%">Created</TableTh>
          <TableTh>Type</TableTh>
          <TableTh w="32%">Object</TableTh>
          <TableTh w="14%">Outcome</TableTh>
        </TableTr>
      </TableThead>
      <TableTbody>
        {events.map((event) => (
          <TableTr key={event.id} className={classes.row ?? ''}>
            <TableTd className="figures">
              <Link href={eventPath(event.id)} className={classes.cover} prefetch={false}>
                {formatSecond(event.stripe_created, timeZone)}
              </Link>
            </TableTd>
            <TableTd fw={500} className="one-line" title={event.type}>
              {event.type}
            </TableTd>
            <TableTd className="one-line" title={event.object_id ?? undefined}>
              {event.object_id ?? '–'}
            </TableTd>
            <TableTd>
              <StatusBadge status={event.outcome} />
            </TableTd>
          </TableTr>
        ))}
      </TableTbody>
    </Table>
  );
}

function NarrowEntry({ event, timeZone }: { event: EventRow; timeZone: string }) {
  return (
    <Link href={eventPath(event.id)} className={classes.entry} prefetch={false}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Stack gap={2} miw={0}>
          <Text size="sm" fw={500} truncate>
            {event.type}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {formatSecond(event.stripe_created, timeZone)} · {event.object_id}
          </Text>
        </Stack>
        <Box flex="none">
          <StatusBadge status={event.outcome} />
        </Box>
      </Group>
    </Link>
  );
}

function eventPath(id: string): string {
  return `/admin/webhooks/${encodeURIComponent(id)}`;
}
