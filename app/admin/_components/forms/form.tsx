'use client';

import { Alert, Button, type ButtonProps, Group, InputError, Paper, Stack } from '@mantine/core';
import { type ReactNode, type Ref, type RefObject, useEffect, useRef } from 'react';
import { useFormStatus } from 'react-dom';
import { LinkButton } from '@/app/_components/links';
import { ProblemAlert } from '@/app/_components/problem-alert';
import classes from './choice-group.module.css';

interface SheetFormProps extends Pick<ButtonProps, 'color'> {
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
export function SheetForm({ label, action, form, problem, children, ...footer }: SheetFormProps) {
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

interface FormMessagesProps {
  /** What is wrong with no single field. */
  problem: string | undefined;
  /** What was typed before the session ended stands in the form again. */
  isKept: boolean;
}

/** What a form says above its fields. */
export function FormMessages({ problem, isKept }: FormMessagesProps) {
  return (
    <>
      {problem && (
        <Alert color="red" variant="light" role="alert">
          {problem}
        </Alert>
      )}
      {isKept && (
        <Alert color="blue" variant="light" role="status" data-unsaved>
          What you typed is restored here. It is not saved yet.
        </Alert>
      )}
    </>
  );
}

interface FormFooterProps extends Pick<ButtonProps, 'color' | 'size'> {
  submit: string;
  /** Where giving up leads. */
  cancel: string;
  pending: boolean;
}

/** What every form ends with. */
export function FormFooter({ submit, cancel, pending, size = 'sm', ...look }: FormFooterProps) {
  return (
    <Group gap="xs">
      <Button type="submit" size={size} loading={pending} {...look}>
        {submit}
      </Button>
      <LinkButton href={cancel} size={size} variant="subtle">
        Cancel
      </LinkButton>
    </Group>
  );
}

/** The button of a form whose action takes a while. */
export function SubmitButton({ children, ...button }: ButtonProps & { children: ReactNode }) {
  const { pending } = useFormStatus();
  return (
    <Button type="submit" size="sm" loading={pending} {...button}>
      {children}
    </Button>
  );
}

interface ChoiceGroupProps {
  label: string;
  error?: string | undefined;
  children: ReactNode;
}

/** Check boxes or radio buttons of one question. */
export function ChoiceGroup({ label, error, children }: ChoiceGroupProps) {
  return (
    <fieldset className={classes.group}>
      <legend className={classes.legend}>{label}</legend>
      <Stack gap="sm">
        {children}
        {error && <InputError role="alert">{error}</InputError>}
      </Stack>
    </fieldset>
  );
}

/** A form's reference: after each answer the first field that it calls wrong takes the focus. */
export function useFirstWrong(answer: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each answer
  useEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [answer]);
  return form;
}
