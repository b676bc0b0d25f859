'use client';

import { Paper, Stack } from '@mantine/core';
import { type ReactNode, useActionState } from 'react';
import { FormFooter } from '../_components/forms/form-footer';
import { FormMessages } from '../_components/forms/record/form-messages';
import { useKeptTyping } from '../_components/forms/record/use-kept-typing';
import { useFirstWrong } from '../_components/forms/use-first-wrong';

export interface TypedState {
  /** The fields as they were typed. */
  typed: Record<string, string>;
  /** Of each wrong field its sentence; of '' what concerns no single one. */
  problems: Record<string, string>;
}

/** What a field of the form is given. */
export type FieldProps = (name: string) => {
  name: string;
  defaultValue: string | undefined;
  error: string | undefined;
  required: boolean;
  withAsterisk: boolean;
};

interface Props<State extends TypedState> {
  label: string;
  submit: string;
  cancel: string;
  action(before: State, form: FormData): Promise<State>;
  first: State;
  children(field: FieldProps, state: State): ReactNode;
}

/**
 * A form of the payments' pages: what is wrong is named, and nothing that was typed is lost by an error or an
 * expired session.
 */
export function TypedForm<State extends TypedState>(props: Props<State>) {
  const { label, submit, cancel, action, first, children } = props;
  const [state, send, pending] = useActionState<State, FormData>(action, first as Awaited<State>);
  const form = useFirstWrong(state);
  const isAnswer = Object.keys(state.problems).length > 0;
  const { kept, keep } = useKeptTyping(label, isAnswer ? state : null);
  const typed = kept ?? state.typed;
  const field: FieldProps = (name) => ({
    name,
    defaultValue: typed[name],
    error: state.problems[name],
    required: true,
    withAsterisk: false,
  });
  return (
    <form action={send} onSubmit={keep} ref={form} aria-label={label}>
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="md" key={kept ? 'kept' : 'typed'}>
          <FormMessages problem={state.problems['']} isKept={kept !== null} />
          {children(field, { ...state, typed })}
          <FormFooter submit={submit} cancel={cancel} pending={pending} />
        </Stack>
      </Paper>
    </form>
  );
}
