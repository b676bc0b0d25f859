'use client';

import { Button, Group, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { type FormEvent, useTransition } from 'react';
import { formatMessage } from '../../_components/format';

export interface FilterField {
  name: string;
  label: string;
  placeholder?: string;
  type?: 'date';
  /** A choice of these, or of all. */
  options?: { value: string; label: string }[];
}

interface Props {
  /** What the form is called, for readers. */
  label: string;
  path: string;
  fields: FilterField[];
  values: Record<string, string>;
  problems: Record<string, string>;
}

/**
 * Values of no field here, such as an order, stay as they are. Without scripts a plain GET form; with them the
 * address holds only what was filled in.
 */
export function FilterBar({ label, path, fields, values, problems }: Props) {
  const router = useRouter();
  const [pending, start] = useTransition();

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const params = new URLSearchParams();
    for (const [name, value] of new FormData(event.currentTarget)) {
      if (typeof value === 'string' && value.trim() !== '') params.set(name, value.trim());
    }
    start(() => router.push(params.size > 0 ? `${path}?${params}` : path));
  }

  const [firstWrong] = Object.keys(problems);
  const others = Object.entries(values).filter(([name]) => !fields.some((field) => field.name === name));
  return (
    <form action={path} method="get" onSubmit={submit} aria-label={label}>
      {others.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <SimpleGrid
        cols={{ base: 2, sm: Math.min(3, fields.length), lg: fields.length }}
        spacing="sm"
        verticalSpacing="sm"
      >
        {fields.map(({ options, ...field }) => {
          const { [field.name]: problem } = problems;
          const input = {
            ...field,
            size: 'sm',
            defaultValue: takes(field, values[field.name] ?? ''),
            error: problem && formatMessage(problem),
            autoFocus: field.name === firstWrong,
          };
          return options ? (
            <NativeSelect key={field.name} {...input} data={[{ value: '', label: 'All' }, ...options]} />
          ) : (
            <TextInput key={field.name} {...input} />
          );
        })}
      </SimpleGrid>
      <Group gap="xs" mt="sm" mb="lg">
        <Button type="submit" size="xs" loading={pending}>
          Filter
        </Button>
        <Button component={Link} href={path} size="xs" variant="subtle">
          Clear
        </Button>
      </Group>
    </form>
  );
}

/** A field for dates shows no other text, and complains of it. */
function takes({ type }: Pick<FilterField, 'type'>, value: string): string {
  return type === 'date' && !/^\d{4}-\d\d-\d\d$/.test(value) ? '' : value;
}
