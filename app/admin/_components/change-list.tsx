import { Code, Group, Stack, Text } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import type { NamedChange } from '@/lib/sync/reconcile/name-changes';
import { TextLink } from '../../_components/links';
import { changedField, changedRecord, changedSentence, changedValue } from './changed-record';
import { RecordList } from './record-list';
import { StatusBadge } from './status-badge';

interface Props {
  changes: NamedChange[];
  timeZone: string;
}

/** The fields that sync changed, with what stood there before and after. */
export function ChangeList({ changes, timeZone }: Props) {
  const rows = changes.map((change, i) => ({ ...change, key: `${i} ${change.entity} ${change.field}` }));
  return (
    <RecordList
      label="Changes"
      rows={rows}
      keyOf={({ key }) => key}
      columns={[
        { label: 'Record', width: '30%', wraps: true, cell: (change) => <Subject change={change} /> },
        { label: 'Field', width: '18%', wraps: true, cell: changedField },
        {
          label: 'Before → after',
          wraps: true,
          cell: (change) => <BeforeAfter change={change} timeZone={timeZone} />,
        },
        { label: 'Outcome', width: '12%', cell: ({ outcome }) => <StatusBadge status={outcome} /> },
      ]}
      entryOf={(change) => ({
        title: <Subject change={change} />,
        detail: (
          <Stack gap={6} c="var(--mantine-color-text)" mt={4}>
            <Text size="sm">{changedField(change)}</Text>
            <BeforeAfter change={change} timeZone={timeZone} />
          </Stack>
        ),
        state: <StatusBadge status={change.outcome} />,
      })}
    />
  );
}

function Subject({ change }: { change: NamedChange }) {
  const { text, name, href } = changedRecord(change);
  return (
    <Stack gap={0} miw={0}>
      {href ? (
        <TextLink href={href} className="break-anywhere">
          {text}
        </TextLink>
      ) : (
        <Text size="sm" fw={500} className="break-anywhere">
          {text}
        </Text>
      )}
      {change.stripe_id && change.stripe_id !== name && (
        <Text size="xs" c="dimmed" truncate title={change.stripe_id}>
          {change.stripe_id}
        </Text>
      )}
    </Stack>
  );
}

function BeforeAfter({ change, timeZone }: { change: NamedChange; timeZone: string }) {
  const sentence = changedSentence(change);
  if (sentence) return <Text size="sm">{sentence}</Text>;
  const textOf = (value: string | null) => value && changedValue(change, value, timeZone);
  return (
    <Group gap={8}>
      <Value text={textOf(change.before)} />
      <IconArrowRight size={14} stroke={1.6} aria-label="became" />
      <Value text={textOf(change.after)} />
    </Group>
  );
}

function Value({ text }: { text: string | null }) {
  if (text === null) {
    return (
      <Text size="sm" c="dimmed">
        {'–'}
      </Text>
    );
  }
  return <Code className="break-anywhere">{text}</Code>;
}
