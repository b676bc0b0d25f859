'use client';

import { Fieldset, List, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Notice } from '@/app/admin/_components/page/notice';
import type { CustomerChoice } from '@/lib/customers/find-customers';
import { typedLines } from '@/lib/records/typed-lines';
import type { Merged, Typed, TypedRecord } from '@/lib/records/typed-record';
import type { FormField } from '../field';
import { FormFooter, FormMessages, useTypedForm } from '../form';
import { LineEditor } from '../lines/line-editor';
import { RecordField } from './record-field';

/** Section of a form with a title: a group of fields, or the lines of an invoice or a sales document. */
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
}

/** Shows the form of a record. An error, a conflict or an expired session loses no typed values. */
export function RecordForm({ label, action, parts, record, customer = null, ...footer }: RecordFormProps) {
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
                key={opened} // after a conflict, shows the lines of the stored record
                initial={typedLines(values)}
                problems={problems}
                currency={currency ?? values.currency ?? ''}
                tax={picked?.tax ?? null}
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

interface ConflictNoticeProps {
  parts: FormPart[];
  theirs: Merged['theirs'];
}

/** Shows the values that another person saved meanwhile, next to the typed values. */
function ConflictNotice({ parts, theirs }: ConflictNoticeProps) {
  const fields = parts.flatMap((part) =>
    'fields' in part ? part.fields : [{ name: 'lines', label: part.title }],
  );
  return (
    <Notice tone="refused">
      <Stack gap="xs">
        <Text size="sm" fw={600}>
          Somebody else changed this meanwhile
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

/** Formats the value of a field for display. */
function fieldText({ kind, options }: FormField, value: string): string {
  if (kind === 'flag') return value === 'on' ? 'yes' : 'no';
  const chosen = kind === 'choice' ? options?.find((option) => option.value === value) : undefined;
  return (chosen?.label ?? value).replaceAll('\n', ', ') || 'nothing';
}

/** Result of the action of a record's form. */
export interface RecordFormState {
  typed: Typed;
  /** The record that the form was opened with. Null if the form creates a record. */
  opened: TypedRecord | null;
  /** Error message of each invalid field. The key '' holds the message for the form as a whole. */
  problems: Record<string, string>;
  /** The other person's values of the fields that conflict. Null without a conflict. */
  theirs: Merged['theirs'] | null;
}
