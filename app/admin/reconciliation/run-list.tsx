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
import type { RunRow } from '@/lib/sync/run-queries';
import { formatCount, formatDuration, formatInstant } from '../../_components/format';
import classes from '../_components/list.module.css';
import { StatusBadge } from '../_components/status-badge';
import { triggerText } from './run-text';

interface Props {
  runs: RunRow[];
  timeZone: string;
}

/** Runs as a table, on a narrow screen as a list. */
export function RunList(props: Props) {
  return (
    <>
      <Box visibleFrom="sm">
        <WideList {...props} />
      </Box>
      <Box hiddenFrom="sm">
        {props.runs.map((run) => (
          <NarrowEntry key={run.id} run={run} timeZone={props.timeZone} />
        ))}
      </Box>
    </>
  );
}

function WideList({ runs, timeZone }: Props) {
  return (
    <Table className={classes.table ?? ''} highlightOnHover>
      <TableThead>
        <TableTr>
          <TableTh>Started</TableTh>
          <TableTh>Status</TableTh>
          <TableTh>Started by</TableTh>
          <TableTh ta="right">Checked</TableTh>
          <TableTh ta="right">Changes</TableTh>
          <TableTh ta="right">Failures</TableTh>
          <TableTh ta="right">Took</TableTh>
        </TableTr>
      </TableThead>
      <TableTbody>
        {runs.map((run) => (
          <TableTr key={run.id} className={classes.row ?? ''}>
            <TableTd fw={500} className="figures">
              <Link href={`/admin/reconciliation/${run.id}`} className={classes.cover}>
                {formatInstant(run.started_at, timeZone)}
              </Link>
            </TableTd>
            <TableTd>
              <StatusBadge status={run.status} />
            </TableTd>
            <TableTd>{triggerText(run)}</TableTd>
            <TableTd ta="right" className="figures">
              {run.objects_checked}
            </TableTd>
            <TableTd ta="right" className="figures">
              {run.changes_count}
            </TableTd>
            <TableTd ta="right" className="figures">
              {run.failures_count}
            </TableTd>
            <TableTd ta="right" className="figures">
              {run.finished_at ? formatDuration(run.started_at, run.finished_at) : '–'}
            </TableTd>
          </TableTr>
        ))}
      </TableTbody>
    </Table>
  );
}

function NarrowEntry({ run, timeZone }: { run: RunRow; timeZone: string }) {
  return (
    <Link href={`/admin/reconciliation/${run.id}`} className={classes.entry}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Stack gap={2} miw={0}>
          <Text size="sm" fw={500}>
            {formatInstant(run.started_at, timeZone)}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {triggerText(run)}
          </Text>
        </Stack>
        <Stack gap={4} align="flex-end" flex="none">
          <StatusBadge status={run.status} />
          <Text size="xs" c="dimmed">
            {formatCount(run.changes_count, 'change')}
          </Text>
        </Stack>
      </Group>
    </Link>
  );
}
