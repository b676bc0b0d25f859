'use client';

import { Alert, Button, type ButtonProps, Group, Paper, Stack, type StackProps } from '@mantine/core';
import {
  type FormEvent,
  Fragment,
  type ReactNode,
  startTransition,
  useActionState,
  useEffect,
  useRef,
  useState,
} from 'react';
import { LinkButton } from '@/app/_components/links';
import { ProblemAlert } from '@/app/_components/problem-alert';
import { Field, type FormField, type Problem, problemText } from './field';
import { Secret, type SecretProps } from './secret';
import { useKeptTyping } from './use-kept-typing';

/** What a form's action answers. */
export interface FormState {
  /** The values as they were typed, without passwords. */
  typed: Record<string, unknown>;
  /** The problem of each wrong field; at '' what concerns no single field. */
  problems: Record<string, Problem>;
  /** Is shown once, in place of the form. */
  secret?: SecretProps;
}

interface ActionFormProps extends FooterProps {
  /** The name of the form for screen readers. */
  label?: string;
  action(before: FormState, form: FormData): Promise<FormState>;
  fields?: FormField[];
  /** The first values. */
  typed?: FormState['typed'];
  /** Whether what was typed survives an expired session. Never set it for passwords. */
  keeps?: boolean;
  /** Whether the fields stay as they are after an answer, which the action of a form would reset. */
  stays?: boolean;
  /** The answer to a form that was sent without scripts, and the address that takes it. */
  problem?: string | null;
  post?: string;
  /** Whether the form stands in a frame of its own. */
  isSheet?: boolean;
  stack?: StackProps;
  /** Stands above the fields. */
  children?: ReactNode;
  /** Other ways to go on, below the button. */
  below?(send: (form: FormData) => void, isPending: boolean): ReactNode;
}

/** A form that is declared by its fields. It names what is wrong and moves the focus there. */
export function ActionForm(props: ActionFormProps) {
  const { label, action, fields = [], typed = {}, keeps, stays, problem, post, isSheet } = props;
  const first: FormState = { typed, problems: problem ? { '': problem } : {} };
  const { form, state, send, isPending, kept } = useTypedForm({ label, action, first, keeps, stays });
  const [changed, setChanged] = useState<Record<string, string>>({});
  if (state.secret) return <Secret {...state.secret} />;
  const values: FormState['typed'] = kept ?? state.typed;
  const textOf = (name: string) => changed[name] ?? String(values[name] ?? '');
  const shown = fields.filter(({ when }) => !when || textOf(when.field) === when.is);
  const { problems } = state;
  const body = (
    <Stack gap={isSheet ? 'lg' : 'md'} key={kept ? 'kept' : 'typed'} {...props.stack}>
      <FormMessages problem={stays && isPending ? undefined : problems['']} isKept={kept !== null} />
      {props.children}
      {shown.map(({ after, ...field }) => (
        <Fragment key={field.name}>
          <Field field={field} value={values[field.name]} problem={problems[field.name]} />
          {after?.(textOf(field.name))}
        </Fragment>
      ))}
      <FormFooter submit={props.submit} cancel={props.cancel} button={props.button} isPending={isPending} />
      {props.below?.(send, isPending)}
    </Stack>
  );
  return (
    <form
      {...form}
      {...(post && { action: post, method: 'post' })}
      onChange={({ target }) => {
        if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement)
          setChanged({ ...changed, [target.name]: target.value });
      }}
    >
      {isSheet ? (
        <Paper withBorder radius="lg" p="lg">
          {body}
        </Paper>
      ) : (
        body
      )}
    </form>
  );
}

interface TypedForm<State> {
  label?: string | undefined;
  action(before: State, form: FormData): Promise<State>;
  first: State;
  keeps?: boolean | undefined;
  stays?: boolean | undefined;
}

/** The state of a form. After each answer the first field that it calls wrong takes the focus. */
export function useTypedForm<State extends object>({ label, action, first, keeps, stays }: TypedForm<State>) {
  const [initial] = useState(first);
  const [state, send, isPending] = useActionState<State, FormData>(action, initial as Awaited<State>);
  const ref = useRef<HTMLFormElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each answer
  useEffect(() => ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [state]);
  const { kept, keep } = useKeptTyping(label ?? '', state === initial ? null : state);
  const sendHere = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    startTransition(() => send(form));
  };
  return {
    form: {
      ref,
      'aria-label': label,
      ...(stays ? { onSubmit: sendHere } : { action: send, ...(keeps && { onSubmit: keep }) }),
    },
    state,
    send: (form: FormData) => startTransition(() => send(form)),
    isPending,
    kept,
  };
}

interface MessagesProps {
  /** What is wrong with no single field. */
  problem: Problem | undefined;
  /** Whether the form shows again what was typed before the session ended. */
  isKept: boolean;
}

/** What a form says above its fields. */
export function FormMessages({ problem, isKept }: MessagesProps) {
  return (
    <>
      <ProblemAlert problem={problemText(problem)} />
      {isKept && (
        <Alert color="blue" variant="light" role="status" data-unsaved>
          What you typed is restored here. It is not saved yet.
        </Alert>
      )}
    </>
  );
}

interface FooterProps {
  submit: string;
  /** Where giving up leads. */
  cancel?: string | undefined;
  button?: ButtonProps | undefined;
}

/** What every form ends with. */
export function FormFooter({ submit, cancel, button, isPending }: FooterProps & { isPending: boolean }) {
  if (cancel === undefined) {
    return (
      <Button type="submit" loading={isPending} {...(button ?? { w: 'fit-content' })}>
        {submit}
      </Button>
    );
  }
  return (
    <Group gap="xs">
      <Button type="submit" size="sm" loading={isPending} {...button}>
        {submit}
      </Button>
      <LinkButton href={cancel} size={button?.size ?? 'sm'} variant="subtle">
        Cancel
      </LinkButton>
    </Group>
  );
}
