'use client';

import { Alert, Button, Checkbox, Paper, SimpleGrid, Stack, TextInput, Title } from '@mantine/core';
import { useActionState, useState } from 'react';
import { ProblemAlert } from '../../../_components/problem-alert';
import { useFirstWrong } from '../../_components/forms/form';
import type { SeriesState } from './actions';

interface Props {
  title: string;
  action(before: SeriesState, form: FormData): Promise<SeriesState>;
  initial: SeriesState['typed'];
  /** The calendar year in the time zone of the service. */
  year: string;
}

/** How the numbers of one series look, with an example. */
export function SeriesForm({ title, action, initial, year }: Props) {
  const first: SeriesState = { typed: initial, problems: {}, saved: false };
  const [{ typed: sent, problems, saved }, submit, pending] = useActionState(action, first);
  const [typed, setTyped] = useState(initial);
  const form = useFirstWrong(problems);
  const field = (name: 'prefix' | 'width' | 'first_count') => ({
    name,
    value: typed[name],
    error: problems[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      setTyped({ ...typed, [name]: event.currentTarget.value }),
    autoComplete: 'off',
  });
  return (
    <form action={submit} ref={form} aria-label={title}>
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="md">
          <Title order={2}>{title}</Title>
          <ProblemAlert problem={problems['']} />
          {saved && (
            <Alert color="green" variant="light" role="status">
              Saved. The next number looks like this.
            </Alert>
          )}
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            <TextInput label="Prefix" maxLength={20} {...field('prefix')} />
            <TextInput label="Digits" inputMode="numeric" {...field('width')} />
            <TextInput label="Start counting at" inputMode="numeric" {...field('first_count')} />
          </SimpleGrid>
          <Checkbox
            name="with_year"
            label="Include the year and start over each year"
            key={String(sent.with_year)} // the form is reset after an answer, and only a new box begins as it was sent
            defaultChecked={sent.with_year}
            onChange={(event) => setTyped({ ...typed, with_year: event.currentTarget.checked })}
          />
          <span>Example: {exampleOf(typed, year)}</span>
          <Button type="submit" w="fit-content" loading={pending}>
            Save
          </Button>
        </Stack>
      </Paper>
    </form>
  );
}

function exampleOf({ prefix, with_year, width, first_count }: SeriesState['typed'], year: string): string {
  const digits = Math.min(Number(width) || 1, 12);
  return `${prefix}${with_year ? `${year}-` : ''}${(first_count || '1').padStart(digits, '0')}`;
}
