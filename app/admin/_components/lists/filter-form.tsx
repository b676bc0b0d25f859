'use client';

import { Button, Stack } from '@mantine/core';
import { useRouter } from 'next/navigation';
import { type FormEvent, type ReactNode, useTransition } from 'react';

interface Props {
  path: string;
  values: Record<string, string>;
  /** Those of its fields. */
  names: string[];
  children: ReactNode;
}

/** The other filters stay; with scripts the address holds only what was filled in. */
export function FilterForm({ path, values, names, children }: Props) {
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
  return (
    <form action={path} method="get" onSubmit={submit}>
      {Object.entries(values)
        .filter(([name]) => !names.includes(name))
        .map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
      <Stack gap="xs">
        {children}
        <Button type="submit" size="xs" loading={pending}>
          Apply
        </Button>
      </Stack>
    </form>
  );
}
