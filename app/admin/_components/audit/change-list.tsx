import { Code, Group, Stack, Text } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import type { NamedChange } from '@/lib/sync/reconcile/changes';
import { TextLink } from '../../../_components/links';
import { StatusBadge } from '../display/status-badge';
import { StripeId } from '../display/stripe-id';
import { RecordList } from '../lists/record-list';
import { changedField, changedRecord, changedSentence, changedValue } from './changed-record';

interface Props {
  changes: NamedChange[];
  timeZone: string;
}

/** The records that sync changed; of each its fields, with what stood there before and after. */
export function ChangeList({ changes, timeZone }: Props) {
  const rows = byRecord(changes);
  return (
    <RecordList
      label="Changes"
      rows={rows}
      keyOf={({ key }) => key}
      columns={[
        { label: 'Record', width: '30%', wraps: true, cell: ({ first }) => <Subject change={first} /> },
        {
          label: 'Before → after',
          wraps: true,
          cell: ({ fields }) => <Fields changes={fields} timeZone={timeZone} />,
        },
        { label: 'Outcome', width: '14%', cell: ({ first }) => <StatusBadge status={first.outcome} /> },
      ]}
      entryOf={({ first, fields }) => ({
        title: <Subject change={first} />,
        detail: <Fields changes={fields} timeZone={timeZone} />,
        state: <StatusBadge status={first.outcome} />,
      })}
    />
  );
}

interface ChangedRecord {
  key: string;
  first: NamedChange;
  fields: NamedChange[];
}

/** What was put right and what was only reported of a record stay apart. */
function byRecord(changes: NamedChange[]): ChangedRecord[] {
  const records = new Map<string, ChangedRecord>();
  for (const change of changes) {
    const key = [change.entity, change.entity_id, change.stripe_id, change.outcome].join(' ');
    const known = records.get(key);
    if (known) known.fields.push(change);
    else records.set(key, { key, first: change, fields: [change] });
  }
  return [...records.values()];
}

function Fields({ changes, timeZone }: Props) {
  return (
    <Stack gap={8} c="var(--mantine-color-text)">
      {changes.map((change) => (
        <div key={change.field}>
          <Text size="xs" c="dimmed">
            {changedField(change)}
          </Text>
          <BeforeAfter change={change} timeZone={timeZone} />
        </div>
      ))}
    </Stack>
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
      {change.stripe_id && change.stripe_id !== name && <StripeId id={change.stripe_id} />}
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
