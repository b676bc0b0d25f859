'use client';

import { Button, Stack, Textarea, TextInput } from '@mantine/core';
import { useActionState, useEffect, useRef } from 'react';
import { SheetForm, useFirstWrong } from '../_components/forms/form';
import { useKeptTyping } from '../_components/forms/record/use-kept-typing';
import type { NoteState } from './actions';
import type { EraseState } from './admin-actions';

const FIRST: NoteState = { typed: '', problem: null, isAnswer: false };

export function NoteForm({ action }: { action(before: NoteState, form: FormData): Promise<NoteState> }) {
  const [state, send, pending] = useActionState(action, FIRST);
  const form = useFirstWrong(state);
  const { kept, keep } = useKeptTyping('Note', state.isAnswer ? state : null);
  return (
    <form action={send} onSubmit={keep} ref={form} aria-label="Note">
      <Stack gap="sm" p="md" align="flex-start">
        <Textarea
          key={kept ? 'kept' : 'typed'}
          w="100%"
          label="Note"
          name="text"
          description="Saved with the date and your name; it cannot be changed later."
          required
          withAsterisk={false}
          rows={3}
          defaultValue={kept?.text ?? state.typed}
          error={state.problem}
        />
        <Button type="submit" size="sm" variant="default" loading={pending}>
          Add note
        </Button>
      </Stack>
    </form>
  );
}

interface Props {
  action(before: EraseState, form: FormData): Promise<EraseState>;
  /** What has to be typed. */
  number: string;
  /** The customer's page. */
  back: string;
}

/** Takes the customer's number for a yes. */
export function EraseForm({ action, number, back }: Props) {
  const [state, submit, pending] = useActionState(action, { typed: '', problem: null });
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (state.problem) field.current?.focus();
  }, [state]);
  return (
    <SheetForm
      label="Erase"
      action={submit}
      submit="Erase customer"
      cancel={back}
      pending={pending}
      color="red.9"
    >
      <TextInput
        ref={field}
        key={state.typed}
        name="customer_number"
        label="Customer number"
        description={`Type ${number} to confirm.`}
        defaultValue={state.typed}
        error={state.problem ?? undefined}
        autoComplete="off"
        required
      />
    </SheetForm>
  );
}
