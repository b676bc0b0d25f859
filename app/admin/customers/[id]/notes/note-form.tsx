'use client';

import { Button, Stack, Textarea } from '@mantine/core';
import { useActionState } from 'react';
import { useKeptTyping } from '../../../_components/forms/record/use-kept-typing';
import { useFirstWrong } from '../../../_components/forms/use-first-wrong';
import type { NoteState } from './actions';

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
