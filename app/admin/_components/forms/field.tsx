'use client';

import {
  Checkbox,
  InputError,
  type InputWrapperProps,
  NativeSelect,
  PasswordInput,
  Radio,
  Stack,
  Textarea,
  TextInput,
  type TextInputProps,
} from '@mantine/core';
import type { ReactNode } from 'react';
import { TextLink } from '@/app/_components/links';
import classes from './choice-group.module.css';

type InputProps = Pick<
  TextInputProps,
  'autoCapitalize' | 'autoComplete' | 'autoFocus' | 'inputMode' | 'maxLength' | 'min' | 'spellCheck' | 'type'
>;

export interface FormField extends InputProps {
  name: string;
  label: string;
  /**
   * Kind of input. Defaults to a text input. `list` is a text area, `radios` allows one choice, and `checks` allows any
   * number of choices.
   */
  kind?: 'checks' | 'choice' | 'customer' | 'flag' | 'list' | 'password' | 'radios' | 'suggest' | undefined;
  /** Options of a choice, or suggested values. Typing the label of a suggestion also finds it. */
  options?: { value: string; label: string; description?: string }[];
  description?: string;
  /** Number of visible lines of a `list`. Defaults to 3. */
  rows?: number;
  required?: boolean;
  withAsterisk?: boolean;
  /** Media types that a file input accepts. */
  accept?: string;
  /** Maximum size of a file in bytes. The browser refuses a larger file, because the server would not read it. */
  maxBytes?: number;
  /** Shows this field only while another field has the given value. */
  when?: { field: string; is: string };
  /** Renders content below the field, given the field's current text. `textOf` returns that of any other field. */
  after?(text: string, textOf: (name: string) => string): ReactNode;
}

/** Error message of a field, optionally with a link. */
export type Problem = string | { text: string; link: { href: string; text: string } };

interface FieldProps {
  field: FormField;
  value: unknown;
  problem: Problem | undefined;
  /** Order of label, hint, input and error, and whether a required field has an asterisk. */
  look?: Pick<InputWrapperProps, 'inputWrapperOrder' | 'withAsterisk'>;
}

/** Shows the input for a field's kind with the given value. A password field always starts empty. */
export function Field({ field, value, problem, look = { withAsterisk: false } }: FieldProps) {
  const { kind, options = [], when: _, after: __, maxBytes, rows = 3, ...plain } = field;
  const { name, label, description } = plain;
  const error = problemText(problem);
  const input = { ...look, ...plain, error };
  const text = String(value ?? '');
  switch (kind) {
    case 'flag':
      return (
        <Checkbox
          {...{ name, label, description, error }}
          defaultChecked={value === true || value === 'on'}
        />
      );
    case 'choice':
      // The key is the value, so that a new value recreates the select. Otherwise a form reset would restore the first
      // default value.
      return <NativeSelect key={text} {...input} defaultValue={text} data={withValue(options, text)} />;
    case 'list':
      return <Textarea autoComplete="off" {...input} defaultValue={text} rows={rows} />;
    case 'password':
      // Mantine does not set `aria-invalid` on a password field.
      return <PasswordInput {...input} aria-invalid={error ? true : undefined} />;
    case 'radios':
    case 'checks': {
      const chosen: unknown[] = [value].flat();
      const Choice = kind === 'radios' ? Radio : Checkbox;
      return (
        <ChoiceGroup label={label} error={error}>
          {options.map((option) => (
            <Choice
              key={option.value}
              name={name}
              {...option}
              defaultChecked={chosen.includes(option.value)}
              {...(kind === 'checks' && error && { 'aria-invalid': true })}
            />
          ))}
        </ChoiceGroup>
      );
    }
    default:
      return (
        <TextInput
          autoComplete="off"
          {...input}
          defaultValue={text}
          {...(maxBytes && { onChange: ({ currentTarget }) => limitFile(currentTarget, maxBytes) })}
        />
      );
  }
}

/**
 * Adds a value to the options if it is missing, such as a server that another person has added since the page was
 * opened. Otherwise the browser would show and submit the first option.
 */
const withValue = (options: NonNullable<FormField['options']>, value: string) =>
  value === '' || options.some((option) => option.value === value)
    ? options
    : [...options, { value, label: value }];

/** Makes the browser refuse to submit a file that is too large. */
function limitFile(input: HTMLInputElement, maxBytes: number): void {
  const isLarge = (input.files?.[0]?.size ?? 0) > maxBytes;
  input.setCustomValidity(
    isLarge
      ? `The file must have at most ${maxBytes < 1e6 ? `${maxBytes / 1000} KB` : `${maxBytes / 1e6} MB`}.`
      : '',
  );
}

/** Renders an error message, with its link if it has one. */
export function problemText(problem: Problem | undefined): ReactNode {
  if (typeof problem !== 'object') return problem;
  const { text, link } = problem;
  return (
    <>
      {text}{' '}
      <TextLink href={link.href} size="xs">
        {link.text}
      </TextLink>
    </>
  );
}

interface ChoiceGroupProps {
  label: string;
  error?: ReactNode;
  children: ReactNode;
}

/** Groups the check boxes or radio buttons of a question. */
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
