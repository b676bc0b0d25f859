'use client';

import { Button, Group, NativeSelect, SimpleGrid, TextInput } from '@mantine/core';
import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { type FormEvent, useTransition } from 'react';
import { formatField, formatMessage } from '../../_components/format';
import { PATH } from './path';

interface Props {
  statuses: readonly string[];
  values: Record<string, string>;
  problems: Record<string, string>;
}

/** Without scripts a plain GET form; with them the address holds only what was filled in. */
export function FilterForm({ statuses, values, problems }: Props) {
  const router = useRouter();
  const [pending, start] = useTransition();
  const [firstWrong] = Object.keys(problems);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const params = new URLSearchParams();
    for (const [name, value] of new FormData(event.currentTarget)) {
      if (typeof value === 'string' && value.trim() !== '') params.set(name, value.trim());
    }
    start(() => router.push(params.size > 0 ? `${PATH}?${params}` : PATH));
  }

  const field = (name: string) => ({
    name,
    defaultValue: values[name] ?? '',
    error: problems[name] && formatMessage(problems[name]),
    autoFocus: name === firstWrong,
    size: 'sm',
  });
  return (
    <form action={PATH} method="get" onSubmit={submit} aria-label="Filter payments">
      {['sort', 'per_page'].map(
        (name) => values[name] && <input key={name} type="hidden" name={name} value={values[name]} />,
      )}
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="sm" verticalSpacing="sm">
        <TextInput label="Customer" placeholder="Number, name, e-mail" {...field('customer')} />
        <TextInput label="Invoice" placeholder="Number" {...field('invoice')} />
        <TextInput label="Reference" placeholder="Any part" {...field('reference')} />
        <NativeSelect
          label="Status"
          {...field('status')}
          data={[
            { value: '', label: 'All' },
            ...statuses.map((value) => ({ value, label: formatField(value) })),
          ]}
        />
        <TextInput label="From" type="date" {...field('from')} />
        <TextInput label="To" type="date" {...field('to')} />
      </SimpleGrid>
      <Group gap="xs" mt="sm">
        <Button type="submit" size="xs" loading={pending}>
          Filter
        </Button>
        <Button component={Link} href={PATH} size="xs" variant="subtle">
          Clear
        </Button>
      </Group>
    </form>
  );
}
