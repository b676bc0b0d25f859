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

/** Result of a form's action. */
export interface FormState {
  /** The typed values, without passwords. */
  typed: Record<string, unknown>;
  /** Error message of each invalid field. The key '' holds the message for the form as a whole. */
  problems: Record<string, Problem>;
  /** A new secret. It replaces the form and is shown only once. */
  secret?: SecretProps;
}

interface ActionFormProps extends FooterProps {
  /** Name of the form for screen readers. Also identifies the values that `keeps` stores. */
  label?: string;
  action(before: FormState, form: FormData): Promise<FormState>;
  fields?: FormField[];
  /** Initial values. */
  typed?: FormState['typed'];
  /** Whether submitted values survive an expired session. The browser stores them, so never set this for passwords. */
  keeps?: boolean;
  /** Version of the record. Values that `keeps` stored are not restored for another version: they may be saved. */
  version?: number | string;
  /** Whether the fields keep their values after the action. If false, React resets the form. */
  stays?: boolean;
  /** Initial error message, for a form that was submitted without JavaScript. */
  problem?: string | null;
  /** URL that the browser submits the form to if JavaScript does not run. */
  post?: string;
  /** Whether the form has a border. */
  isSheet?: boolean;
  stack?: StackProps;
  /** Content above the fields. */
  children?: ReactNode;
  /** Renders alternatives below the submit button, such as another way to submit the form. */
  below?(send: (form: FormData) => void, isPending: boolean): ReactNode;
}

/** Shows a form. After an error, it shows the messages and focuses the first invalid field. */
export function ActionForm(props: ActionFormProps) {
  const { fields = [], typed = {}, stays, problem, post, isSheet } = props;
  const first: FormState = { typed, problems: problem ? { '': problem } : {} };
  const { form, state, send, isPending, kept } = useTypedForm({ ...props, first });
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
          {after?.(textOf(field.name), textOf)}
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
  version?: number | string | undefined;
  stays?: boolean | undefined;
}

/** Holds the state of a form. After each submission it focuses the first invalid field. */
export function useTypedForm<State extends object>(props: TypedForm<State>) {
  const { label, action, first, keeps, version = '', stays } = props;
  const [initial] = useState(first);
  const [state, send, isPending] = useActionState<State, FormData>(action, initial as Awaited<State>);
  const ref = useRef<HTMLFormElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: must run after every result of the action
  useEffect(() => ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(), [state]);
  const { kept, keep } = useKeptTyping(`${label ?? ''} ${version}`, state === initial ? null : state);
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
  /** Error message for the form as a whole. */
  problem: Problem | undefined;
  /** Whether the form shows values that were submitted but not saved, such as after a session expired. */
  isKept: boolean;
}

/** Shows a form's error message, and a note if the form shows restored values. */
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
  /** Path of the page that the cancel link opens. Without it, there is no cancel link. */
  cancel?: string | undefined;
  button?: ButtonProps | undefined;
}

/** Shows the submit button of a form, and its cancel link. */
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
