'use client';

import { Autocomplete, type AutocompleteProps, Fieldset, List, SimpleGrid, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { CustomerChoice } from '@/lib/customers/find-customers';
import type { Seller } from '@/lib/customers/tax-category';
import { typedLines } from '@/lib/records/typed-lines';
import type { Merged, Typed, TypedRecord } from '@/lib/records/typed-record';
import { Notice } from '../../page/notice';
import { useAnswer } from '../../page/use-answer';
import { Field, type FormField } from '../field';
import { FormFooter, FormMessages, useTypedForm } from '../form';
import { LineEditor } from '../lines/line-editor';

/** A titled section of a form. It contains a group of fields, or the lines of an invoice or a sales document. */
export type FormPart = { title: string; fields: FormField[] } | { title: string; hasLines: true };

interface RecordFormProps {
  /** Name of the form for screen readers. */
  label: string;
  action(before: RecordFormState, form: FormData): Promise<RecordFormState>;
  parts: FormPart[];
  /** The record to edit, or the initial values of a new record. */
  record: TypedRecord | { version: null; typed: Typed };
  submit: string;
  /** Path of the page that the cancel link opens. */
  cancel: string;
  /** The customer of the record. Null or undefined if no customer is chosen yet. */
  customer?: CustomerChoice | null;
  /** Our company as the seller. The tax categories of the lines depend on it. */
  seller: Seller;
}

/** Shows the form of a record. The typed values survive errors, conflicts and an expired session. */
export function RecordForm({
  label,
  action,
  parts,
  record,
  customer = null,
  seller,
  ...footer
}: RecordFormProps) {
  const { version, typed } = record;
  const { form, state, isPending, kept } = useTypedForm<RecordFormState>({
    label,
    action,
    first: { typed, opened: version === null ? null : { version, typed }, problems: {}, theirs: null },
    keeps: true,
  });
  const values = { ...(kept ?? state.typed) };
  const [currency, setCurrency] = useState<string | null>(null);
  const [picked, setPicked] = useState(customer);
  const isPicked = version === null && picked?.customer_number !== customer?.customer_number;
  // A new record takes the currency of the chosen customer, unless a currency was typed.
  if (isPicked && picked && currency === null) values.currency = picked.currency.toUpperCase();
  const opened = kept?.opened ?? JSON.stringify(state.opened);
  const { problems, theirs } = state;
  return (
    <form {...form}>
      {theirs && <ConflictNotice key={opened} parts={parts} theirs={theirs} />}
      <Stack gap="lg" key={kept ? 'kept' : 'typed'}>
        <FormMessages problem={problems['']} isKept={kept !== null} />
        {state.opened && <input type="hidden" name="opened" value={opened} />}
        {parts.map((part) => (
          <Fieldset key={part.title} legend={part.title} radius="lg">
            {'hasLines' in part ? (
              <LineEditor
                key={opened} // a new key resets the editor after a conflict, so that it shows the merged lines
                initial={typedLines(values)}
                problems={problems}
                currency={currency ?? values.currency ?? ''}
                customer={picked}
                seller={seller}
              />
            ) : (
              <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
                {part.fields.map((field) => (
                  <RecordField
                    key={field.name}
                    field={field}
                    value={values[field.name] ?? ''}
                    problem={problems[field.name]}
                    customer={customer}
                    onPick={setPicked}
                    onCurrency={setCurrency}
                  />
                ))}
              </SimpleGrid>
            )}
          </Fieldset>
        ))}
        <FormFooter {...footer} isPending={isPending} />
      </Stack>
    </form>
  );
}

/** Shows the stored values that have changed since the form was opened, next to the typed values. */
function ConflictNotice({ parts, theirs }: { parts: FormPart[]; theirs: Merged['theirs'] }) {
  const fields = parts.flatMap((part) =>
    'fields' in part ? part.fields : [{ name: 'lines', label: part.title }],
  );
  return (
    <Notice tone="refused">
      <Stack gap="xs">
        <Text size="sm" fw={600}>
          Someone else changed this in the meantime
        </Text>
        <Text size="sm">
          Nothing has been saved yet; what you typed is still here.{' '}
          {theirs.length === 0 && 'None of these fields changed. '}
          Save again to keep what the form shows now.
        </Text>
        <List size="sm" spacing={4}>
          {theirs.map(({ field: name, stored, typed }) => {
            const field = fields.find((one) => one.name === name) ?? { name, label: name };
            return (
              <List.Item key={name} className="break-anywhere">
                <strong>{field.label}</strong>
                {`: stored now: ${fieldText(field, stored)}; `}
                {typed === null
                  ? 'you had not changed it, so the form now shows the new value'
                  : `you typed: ${fieldText(field, typed)}`}
              </List.Item>
            );
          })}
        </List>
      </Stack>
    </Notice>
  );
}

function fieldText({ kind, options }: FormField, value: string): string {
  if (kind === 'flag') return value === 'on' ? 'yes' : 'no';
  const chosen = kind === 'choice' ? options?.find((option) => option.value === value) : undefined;
  return (chosen?.label ?? value).replaceAll('\n', ', ') || 'nothing';
}

/** State of a record's form. It begins with the initial values, and becomes the result of each submission. */
export interface RecordFormState {
  typed: Typed;
  /** The stored record on which the form is based. After a conflict, it is the new version. Null for a new record. */
  opened: TypedRecord | null;
  /** Error message of each invalid field. The key '' holds the message for the form as a whole. */
  problems: Record<string, string>;
  /** Stored and typed values of the fields that changed while the form was open. Null if there is no conflict. */
  theirs: Merged['theirs'] | null;
}

interface RecordFieldProps {
  field: FormField;
  value: string;
  problem: string | undefined;
  /** The customer of the record when the form was opened. Null for a record without a customer. */
  customer: CustomerChoice | null;
  onPick(customer: CustomerChoice | null): void;
  onCurrency(code: string): void;
}

// Hints are below the inputs, so that inputs in the same row align.
const ORDER: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error'];

/** Shows a field of a record's form. Fields of kind `customer` and `suggest` suggest values. */
function RecordField({ field, value, problem, customer, onPick, onCurrency }: RecordFieldProps) {
  const { name, label, kind, options = [], description, required = false } = field;
  const input = {
    ...{ name, label, description, required, error: problem, inputWrapperOrder: ORDER },
    defaultValue: value,
  };
  // The key is the value, so that a new value recreates the field. Otherwise the field would show the old text from its
  // React state.
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
  /** The customer whose number the field initially contains. Null if no customer has that number. */
  first: CustomerChoice | null;
  /** Called with the customer whose number the field now contains, or with null if no customer has this number. */
  onPick(customer: CustomerChoice | null): void;
}

const NONE: CustomerChoice[] = [];

/** Shows a field that suggests customers by part of a name, number or e-mail. Its value is the customer's number. */
function CustomerField({ first, onPick, ...input }: CustomerFieldProps) {
  const [text, setText] = useState(String(input.defaultValue ?? ''));
  const [isTyped, setTyped] = useState(false);
  const answered = useAnswer('/admin/customers/choices', isTyped ? text.trim() : '', NONE);
  const found = answered?.answer ?? NONE;
  const picked = [...found, ...(first ? [first] : [])].find((one) => isNumber(one, text)) ?? null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the customer changes, not when `onPick` does
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
  if (answered?.state === 'failed')
    return 'The search is not available right now. You can still type a number.';
  if (answered?.state === 'signed-out') return 'You are no longer signed in. Save to sign in again.';
  const isNone = answered?.text === text.trim() && answered.answer?.length === 0;
  return isNone ? 'No customer’s name, number or e-mail contains this.' : 'Type a name, number or e-mail.';
}

interface Suggestion {
  /** Text that the field contains after the suggestion is chosen. */
  value: string;
  /** Description next to the value. The typed text is matched against the description as well. */
  about?: string | undefined;
}

interface SuggestFieldProps extends Omit<AutocompleteProps, 'data' | 'filter' | 'renderOption'> {
  suggestions: Suggestion[];
  /** Whether the suggestions are already filtered by the typed text. */
  isFiltered?: boolean;
}

/** Shows a text field with suggestions. It submits the visible text, not an id, so that it works without JavaScript. */
function SuggestField({ suggestions, isFiltered = false, ...input }: SuggestFieldProps) {
  // Render the options only once the field has received focus, because there may be hundreds of options.
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
