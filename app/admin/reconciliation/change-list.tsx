import {
  Box,
  Code,
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
import { IconArrowRight } from '@tabler/icons-react';
import Link from 'next/link';
import type { RunChange } from '@/lib/sync/run-queries';
import { formatField } from '../../_components/format';
import classes from '../_components/list.module.css';
import { StatusBadge } from '../_components/status-badge';

/** The fields a run changed, with what stood there before and after. */
export function ChangeList({ changes }: { changes: RunChange[] }) {
  return (
    <>
      <Box visibleFrom="sm">
        <Table className={classes.table ?? ''} layout="fixed">
          <TableThead>
            <TableTr>
              <TableTh w="28%">Record</TableTh>
              <TableTh w="20%">Field</TableTh>
              <TableTh>Before → after</TableTh>
              <TableTh w="13%">Outcome</TableTh>
            </TableTr>
          </TableThead>
          <TableTbody>
            {changes.map((change) => (
              <TableTr key={change.id}>
                <TableTd>
                  <Entity change={change} />
                </TableTd>
                <TableTd className="break-anywhere">{formatField(change.field)}</TableTd>
                <TableTd>
                  <BeforeAfter change={change} />
                </TableTd>
                <TableTd>
                  <StatusBadge status={change.outcome} />
                </TableTd>
              </TableTr>
            ))}
          </TableTbody>
        </Table>
      </Box>
      <Box hiddenFrom="sm">
        {changes.map((change) => (
          <Stack key={change.id} gap={6} className={classes.entry ?? ''}>
            <Group justify="space-between" wrap="nowrap" align="flex-start">
              <Entity change={change} />
              <StatusBadge status={change.outcome} />
            </Group>
            <Text size="sm">{formatField(change.field)}</Text>
            <BeforeAfter change={change} />
          </Stack>
        ))}
      </Box>
    </>
  );
}

function Entity({ change }: { change: RunChange }) {
  const name = `${formatField(change.entity)}${change.entity_id === null ? '' : ` ${change.entity_id}`}`;
  return (
    <Stack gap={0} miw={0}>
      {change.entity === 'payment' && change.entity_id !== null ? (
        <Link href={`/admin/payments/${change.entity_id}`}>{name}</Link>
      ) : (
        <Text size="sm" fw={500}>
          {name}
        </Text>
      )}
      {change.stripe_id && (
        <Text size="xs" c="dimmed" truncate title={change.stripe_id}>
          {change.stripe_id}
        </Text>
      )}
    </Stack>
  );
}

function BeforeAfter({ change: { before, after } }: { change: RunChange }) {
  return (
    <Group gap={8}>
      <Value text={before} />
      <IconArrowRight size={14} stroke={1.6} aria-label="became" />
      <Value text={after} />
    </Group>
  );
}

function Value({ text }: { text: string | null }) {
  if (text === null)
    return (
      <Text size="sm" c="dimmed">
        {'–'}
      </Text>
    );
  return <Code className="break-anywhere">{text}</Code>;
}
