'use client';

import { type ButtonProps, Paper, Stack } from '@mantine/core';
import type { ReactNode, Ref } from 'react';
import { ProblemAlert } from '../../../_components/problem-alert';
import { FormFooter } from './form-footer';

interface Props extends Pick<ButtonProps, 'color'> {
  /** What the form is called, for readers. */
  label: string;
  action(form: FormData): void;
  form?: Ref<HTMLFormElement>;
  /** What concerns no single field. */
  problem?: string | undefined;
  submit: string;
  /** Where giving up leads. */
  cancel: string;
  pending: boolean;
  children: ReactNode;
}

/** A form that is all there is on its page. */
export function SheetForm({ label, action, form, problem, children, ...footer }: Props) {
  return (
    <form action={action} ref={form} aria-label={label}>
      <Paper withBorder radius="lg" p="lg">
        <Stack gap="lg">
          <ProblemAlert problem={problem} />
          {children}
          <FormFooter {...footer} />
        </Stack>
      </Paper>
    </form>
  );
}
