'use client';

import { Alert, Button, Group, NativeSelect, Paper, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useActionState, useState } from 'react';
import { typedLines } from '@/lib/invoices/typed-draft';
import { LinkButton } from '../../../_components/links';
import { useFirstWrong } from '../use-first-wrong';
import { LineEditor } from './line-editor';
import type { DraftState } from './save-draft';

export interface DraftField {
  name: string;
  label: string;
  description?: string;
  type?: 'date';
  options?: { value: string; label: string }[];
}

interface Props {
  /** What it is, for readers. */
  label: string;
  action(before: DraftState, form: FormData): Promise<DraftState>;
  fields: DraftField[];
  initial: Record<string, string>;
  confirm: string;
  cancelHref: string;
}

/** A form of fields, and of lines where there are some; what was typed stays, whatever the answer. */
export function DraftForm({ label, action, fields, initial, confirm, cancelHref }: Props) {
  const [{ typed, problems }, submit, pending] = useActionState(action, { typed: initial, problems: {} });
  const [currency, setCurrency] = useState(initial.currency ?? 'EUR');
  const form = useFirstWrong(problems);
  const lines = typedLines(initial);
  return (
    <form action={submit} ref={form} aria-label={label} noValidate>
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="lg">
          {problems[''] && (
            <Alert color="red" variant="light" role="alert">
              {problems['']}
            </Alert>
          )}
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            {fields.map(({ options, type, ...field }) => {
              const shared = { ...field, defaultValue: typed[field.name], error: problems[field.name] };
              // The form is reset after an answer, and only a new list begins with what was sent.
              if (options) return <NativeSelect key={typed[field.name]} {...shared} data={options} />;
              const isCurrency = field.name === 'currency';
              return (
                <TextInput
                  key={field.name}
                  {...shared}
                  {...(type && { type })}
                  {...(isCurrency && { onChange: (event) => setCurrency(event.currentTarget.value) })}
                  autoComplete="off"
                />
              );
            })}
          </SimpleGrid>
          {lines.length > 0 && <LineEditor initial={lines} problems={problems} currency={currency} />}
          <Group gap="xs">
            <Button type="submit" loading={pending}>
              {confirm}
            </Button>
            <LinkButton href={cancelHref} variant="subtle">
              Cancel
            </LinkButton>
          </Group>
        </Stack>
      </Paper>
    </form>
  );
}
