'use client';

import { Autocomplete, type AutocompleteProps, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useAnswer } from '@/app/admin/_components/page/use-answer';
import type { CustomerChoice } from '@/lib/customers/find-customers';
import { Field, type FormField } from '../field';

interface RecordFieldProps {
  field: FormField;
  value: string;
  problem: string | undefined;
  /** The customer of the record when the form was opened. Null for a record without a customer. */
  customer: CustomerChoice | null;
  onPick(customer: CustomerChoice | null): void;
  /** Called with the typed currency. */
  onCurrency(code: string): void;
}

// Hints are below the inputs, so that inputs in the same row align.
const ORDER: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error'];

/** Shows a field of a record's form. Fields of kind `customer` and `suggest` suggest values. */
export function RecordField({ field, value, problem, customer, onPick, onCurrency }: RecordFieldProps) {
  const { name, label, kind, options = [], description, required = false } = field;
  const input = {
    ...{ name, label, description, required, error: problem, inputWrapperOrder: ORDER },
    defaultValue: value,
  };
  // A new key for each value: a reset form would otherwise not show another value in these fields.
  if (kind === 'customer') return <CustomerField key={value} {...input} first={customer} onPick={onPick} />;
  if (kind !== 'suggest') return <Field {...{ field, value, problem }} look={{ inputWrapperOrder: ORDER }} />;
  return (
    <SuggestField
      key={value}
      {...input}
      suggestions={options.map((option) => ({ value: option.value, about: option.label }))}
      {...(name === 'currency' && { onChange: onCurrency })}
    />
  );
}

interface CustomerFieldProps extends AutocompleteProps {
  /** The customer whose number the field contains at first. Null if there is no such customer. */
  first: CustomerChoice | null;
  /** Called with the customer whose number the field now contains, or with null if no customer has this number. */
  onPick(customer: CustomerChoice | null): void;
}

const NONE: CustomerChoice[] = [];

/** Searches customers by any part of name, number or e-mail address. The value is the customer's number. */
function CustomerField({ first, onPick, ...input }: CustomerFieldProps) {
  const [text, setText] = useState(String(input.defaultValue ?? ''));
  const [isTyped, setTyped] = useState(false);
  const answered = useAnswer('/admin/customers/choices', isTyped ? text.trim() : '', NONE);
  const found = answered?.answer ?? NONE;
  const picked = [...found, ...(first ? [first] : [])].find((one) => isNumber(one, text)) ?? null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: told of another customer, not of another function
  useEffect(() => onPick(picked), [picked?.customer_number]);
  return (
    <SuggestField
      {...input}
      description={picked ? describe(picked) : hintOf(answered, text)}
      suggestions={found.map((one) => ({ value: one.customer_number, about: describe(one) }))}
      isFiltered
      onChange={(typed) => {
        setText(typed);
        setTyped(true);
      }}
    />
  );
}

const isNumber = ({ customer_number }: CustomerChoice, text: string): boolean =>
  customer_number.toLowerCase() === text.trim().toLowerCase();

function describe({ name, status }: CustomerChoice): string {
  const state = status === 'active' ? '' : ` (${status})`;
  return `${name || 'No name'}${state}`;
}

function hintOf(answered: ReturnType<typeof useAnswer<CustomerChoice[]>>, text: string): string {
  if (answered?.state === 'failed') return 'The search does not work right now. You can still type a number.';
  if (answered?.state === 'signed-out') return 'You are no longer signed in. Save to sign in again.';
  const isNone = answered?.text === text.trim() && answered.answer?.length === 0;
  return isNone ? 'No customer has this in its name, number or e-mail.' : 'Type a name, number or e-mail.';
}

interface Suggestion {
  /** The text that the field gets when the suggestion is chosen. */
  value: string;
  /** Description next to the value, which is searched too. */
  about?: string | undefined;
}

interface SuggestFieldProps extends Omit<AutocompleteProps, 'data' | 'filter' | 'renderOption'> {
  suggestions: Suggestion[];
  /** Whether the suggestions are already filtered by the typed text. */
  isFiltered?: boolean;
}

/**
 * Shows a text field with suggestions. The form submits the visible text, so that the field also works without
 * JavaScript, and the server always receives the value that the person sees.
 */
function SuggestField({ suggestions, isFiltered = false, ...input }: SuggestFieldProps) {
  // Renders the hundreds of options only once the field is used.
  const [isUsed, setUsed] = useState(false);
  const abouts = new Map(suggestions.map(({ value, about }) => [value, about]));
  return (
    <Autocomplete
      {...input}
      onFocus={() => setUsed(true)}
      data={isUsed ? suggestions.map(({ value }) => value) : []}
      filter={({ options, search }) =>
        isFiltered
          ? options
          : options.filter(
              (option) => 'value' in option && isMeant(option.value, abouts.get(option.value), search),
            )
      }
      renderOption={({ option: { value } }) => (
        <span>
          {value}
          {abouts.get(value) && (
            <Text span inherit c="dimmed">
              {` · ${abouts.get(value)}`}
            </Text>
          )}
        </span>
      )}
      maxDropdownHeight={280}
    />
  );
}

function isMeant(value: string, about: string | undefined, search: string): boolean {
  const text = search.trim().toLowerCase();
  return `${value} ${about ?? ''}`.toLowerCase().includes(text);
}
