'use client';

import { Alert, Button, Fieldset, Group, SimpleGrid, Stack } from '@mantine/core';
import { useActionState } from 'react';
import type { Typed } from '@/lib/records/typed-fields';
import type { TypedRecord } from '@/lib/records/typed-record';
import { LinkButton } from '../../../_components/links';
import { useFirstWrong } from '../use-first-wrong';
import { ConflictNotice } from './conflict-notice';
import type { FormPart } from './form-fields';
import type { FormAction } from './form-state';
import { RecordField } from './record-field';
import { useKeptTyping } from './use-kept-typing';

interface Props {
  /** What the form is called, for readers. */
  label: string;
  action: FormAction;
  parts: FormPart[];
  /** The record that is edited; of a new one what its form begins with. */
  record: TypedRecord | { version: null; typed: Typed };
  submit: string;
  /** Where giving up leads. */
  cancel: string;
}

/** The form of a record: nothing that was typed is lost by an error, a conflict or an expired session. */
export function RecordForm({ label, action, parts, record, submit, cancel }: Props) {
  const { version, typed } = record;
  const [state, send, pending] = useActionState(action, {
    typed,
    opened: version === null ? null : { version, typed },
    problems: {},
    theirs: null,
    isAnswer: false,
  });
  const form = useFirstWrong(state);
  const { kept, keep } = useKeptTyping(label, state.isAnswer ? state : null);
  const values = kept ?? state.typed;
  const opened = kept?.opened ?? JSON.stringify(state.opened);
  const { problems, theirs } = state;
  return (
    <form action={send} onSubmit={keep} ref={form} aria-label={label}>
      {theirs && <ConflictNotice key={opened} parts={parts} theirs={theirs} />}
      <Stack gap="lg" key={kept ? 'kept' : 'typed'}>
        {problems[''] && (
          <Alert color="red" variant="light" role="alert">
            {problems['']}
          </Alert>
        )}
        {kept && (
          <Alert color="blue" variant="light" role="status">
            What you had typed is here again. It is not saved yet.
          </Alert>
        )}
        {state.opened && <input type="hidden" name="opened" value={opened} />}
        {parts.map(({ title, fields }) => (
          <Fieldset key={title} legend={title} radius="lg">
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              {fields.map((field) => (
                <RecordField
                  key={field.name}
                  field={field}
                  value={values[field.name] ?? ''}
                  problem={problems[field.name]}
                />
              ))}
            </SimpleGrid>
          </Fieldset>
        ))}
        <Group gap="xs">
          <Button type="submit" loading={pending}>
            {submit}
          </Button>
          <LinkButton href={cancel} variant="subtle">
            Cancel
          </LinkButton>
        </Group>
      </Stack>
    </form>
  );
}
