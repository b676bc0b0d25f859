'use client';

import { Alert, Checkbox, Paper, SimpleGrid, Stack, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import { FormFooter, FormMessages, useTypedForm } from '../../_components/forms/form';
import type { SeriesState } from '../actions';

interface Props {
  title: string;
  action(before: SeriesState, form: FormData): Promise<SeriesState>;
  initial: SeriesState['typed'];
  etag: string;
  /** Current calendar year in the configured time zone. */
  year: string;
}

const FIELDS = [
  { name: 'prefix', label: 'Prefix', maxLength: 20 },
  { name: 'width', label: 'Digits', inputMode: 'numeric' },
  { name: 'first_count', label: 'Start counting at', inputMode: 'numeric' },
] as const;

/** Shows the form for the number format of a series, with an example that follows the typed values. */
export function SeriesForm({ title, action, initial, etag, year }: Props) {
  const first: SeriesState = { typed: initial, etag, problems: {}, saved: false };
  const { form, state, isPending } = useTypedForm({ label: title, action, first });
  const [typed, setTyped] = useState(initial);
  const { typed: sent, problems, saved } = state;
  return (
    <form {...form}>
      <input type="hidden" name="etag" value={state.etag} />
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="md">
          <Title order={2}>{title}</Title>
          <FormMessages problem={problems['']} isKept={false} />
          {saved && (
            <Alert color="green" variant="light" role="status">
              Saved. The next number looks like this.
            </Alert>
          )}
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            {FIELDS.map((field) => (
              <TextInput
                key={field.name}
                {...field}
                value={typed[field.name]}
                error={problems[field.name]}
                onChange={(event) => setTyped({ ...typed, [field.name]: event.currentTarget.value })}
                autoComplete="off"
              />
            ))}
          </SimpleGrid>
          <Checkbox
            name="with_year"
            label="Include the year and start over each year"
            key={String(sent.with_year)} // React resets the form after the action. A new key keeps the sent value.
            defaultChecked={sent.with_year}
            onChange={(event) => setTyped({ ...typed, with_year: event.currentTarget.checked })}
          />
          <span>Example: {exampleOf(typed, year)}</span>
          <FormFooter submit="Save" isPending={isPending} />
        </Stack>
      </Paper>
    </form>
  );
}

function exampleOf({ prefix, with_year, width, first_count }: SeriesState['typed'], year: string): string {
  const digits = Math.min(Number(width) || 1, 12);
  return `${prefix}${with_year ? `${year}-` : ''}${(first_count || '1').padStart(digits, '0')}`;
}
