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

/** A field of a form. */
export interface FormField extends InputProps {
  name: string;
  label: string;
  /** A line of text by default. `list` takes several lines; of `radios` one is chosen, of `checks` any number. */
  kind?: 'checks' | 'choice' | 'customer' | 'flag' | 'list' | 'password' | 'radios' | 'suggest' | undefined;
  /** Of a choice; of a field that suggests values, each with a second text to find it by. */
  options?: { value: string; label: string; description?: string }[];
  description?: string;
  required?: boolean;
  withAsterisk?: boolean;
  /** Shown only while another field has this value. */
  when?: { field: string; is: string };
  /** Stands below the field, for the text that it holds now. */
  after?(text: string): ReactNode;
}

/** What is wrong with a field, with a link if that helps. */
export type Problem = string | { text: string; link: { href: string; text: string } };

interface FieldProps {
  field: FormField;
  value: unknown;
  problem: Problem | undefined;
  /** How the label, the hint and the error stand around the input. */
  look?: Pick<InputWrapperProps, 'inputWrapperOrder' | 'withAsterisk'>;
}

/** A field as its kind asks for, with the value that was typed last. */
export function Field({ field, value, problem, look = { withAsterisk: false } }: FieldProps) {
  const { kind, options = [], when: _, after: __, ...plain } = field;
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
      // Browsers and React leave a select as it was when a form is reset: another value is another field.
      return <NativeSelect key={text} {...input} defaultValue={text} data={options} />;
    case 'list':
      return <Textarea autoComplete="off" {...input} defaultValue={text} rows={3} />;
    case 'password':
      // Mantine does not mark a wrong password as invalid by itself.
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
      return <TextInput autoComplete="off" {...input} defaultValue={text} />;
  }
}

/** A problem as forms show it. */
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
