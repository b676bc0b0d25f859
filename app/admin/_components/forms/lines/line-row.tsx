'use client';

import { Button, Fieldset, Group, Text, TextInput } from '@mantine/core';
import type { LineField, TypedLine } from '@/lib/records/typed-lines';

interface Props {
  /** Counted from 0. */
  index: number;
  count: number;
  line: TypedLine;
  /** As text, without tax. */
  net: string;
  problems: Partial<Record<LineField, string | undefined>>;
  /** It was just added: typing goes on in it. */
  isNew: boolean;
  onChange(changes: Partial<TypedLine>): void;
  /** By -1 or 1. */
  onMove(by: number): void;
  /** Left out where there must be this one. */
  onRemove: (() => void) | undefined;
}

const FIELDS = [
  { name: 'text', label: 'Text', flex: '1 1 16rem', maxLength: 500 },
  { name: 'quantity', label: 'Quantity', flex: '1 1 5rem', inputMode: 'decimal' },
  { name: 'unit_price', label: 'Price without tax', flex: '1 1 8rem', inputMode: 'decimal' },
  { name: 'tax_rate', label: 'Tax in %', flex: '1 1 5rem', inputMode: 'decimal' },
] as const;

const focus = (field: HTMLInputElement | null) => field?.focus();

/** A line that is typed, and what can be done with it. */
export function LineRow({ index, count, line, net, problems, isNew, onChange, onMove, onRemove }: Props) {
  return (
    <Fieldset legend={`Line ${index + 1}`} radius="md">
      <Group align="flex-start" gap="sm">
        {FIELDS.map(({ name, flex, ...field }) => (
          <TextInput
            key={name}
            {...field}
            {...(isNew && name === 'text' && { ref: focus })}
            flex={flex}
            name={`lines.${index}.${name}`}
            value={line[name]}
            error={problems[name]}
            onChange={(event) => onChange({ [name]: event.currentTarget.value })}
            autoComplete="off"
          />
        ))}
      </Group>
      <Group justify="space-between" mt="xs" gap="xs">
        <Group gap={4}>
          <MoveButton index={index} isEnd={index === 0} to="up" onMove={() => onMove(-1)} />
          <MoveButton index={index} isEnd={index === count - 1} to="down" onMove={() => onMove(1)} />
          {onRemove && (
            <Button variant="subtle" size="compact-sm" onClick={onRemove}>
              Remove line {index + 1}
            </Button>
          )}
        </Group>
        <Text size="sm" c="dimmed" className="figures">
          Net: {net}
        </Text>
      </Group>
    </Fieldset>
  );
}

interface MoveProps {
  index: number;
  isEnd: boolean;
  to: 'up' | 'down';
  onMove(): void;
}

/** At the end of its way it stays, so that it keeps the focus. */
function MoveButton({ index, isEnd, to, onMove }: MoveProps) {
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      aria-label={`Move line ${index + 1} ${to}`}
      aria-disabled={isEnd}
      {...(isEnd && { 'data-disabled': true })}
      onClick={() => !isEnd && onMove()}
    >
      {to === 'up' ? 'Up' : 'Down'}
    </Button>
  );
}
