'use client';

import { Fieldset, SimpleGrid, Stack } from '@mantine/core';
import { useActionState, useState } from 'react';
import type { CustomerChoice } from '@/lib/customers/find-customers';
import { typedLines } from '@/lib/records/typed-lines';
import type { Typed, TypedRecord } from '@/lib/records/typed-record';
import { FormFooter } from '../form-footer';
import { LineEditor } from '../lines/line-editor';
import { useFirstWrong } from '../use-first-wrong';
import { ConflictNotice } from './conflict-notice';
import type { FormPart } from './form-fields';
import { FormMessages } from './form-messages';
import type { FormAction } from './form-state';
import { RecordField } from './record-field';
import { useKeptTyping } from './use-kept-typing';

interface Props {
  /** What the form is called, for readers. */
  label: string;
  action: FormAction;
  parts: FormPart[];
  /** The record that is edited; of a new one what its form begins with. */
  record: TypedRecord | { version: null; typed: Typed };
  submit: string;
  /** Where giving up leads. */
  cancel: string;
  /** Whose record it is, if that is known. */
  customer?: CustomerChoice | null;
}

/** The form of a record: nothing that was typed is lost by an error, a conflict or an expired session. */
export function RecordForm({ label, action, parts, record, submit, cancel, customer = null }: Props) {
  const { version, typed } = record;
  const [state, send, pending] = useActionState(action, {
    typed,
    opened: version === null ? null : { version, typed },
    problems: {},
    theirs: null,
    isAnswer: false,
  });
  const form = useFirstWrong(state);
  const { kept, keep } = useKeptTyping(label, state.isAnswer ? state : null);
  const values = { ...(kept ?? state.typed) };
  const [currency, setCurrency] = useState<string | null>(null);
  const [picked, setPicked] = useState(customer);
  const isPicked = version === null && picked?.customer_number !== customer?.customer_number;
  // A new record is in the currency of the customer that was picked, unless another one was typed.
  if (isPicked && picked && currency === null) values.currency = picked.currency.toUpperCase();
  const opened = kept?.opened ?? JSON.stringify(state.opened);
  const { problems, theirs } = state;
  return (
    <form action={send} onSubmit={keep} ref={form} aria-label={label}>
      {theirs && <ConflictNotice key={opened} parts={parts} theirs={theirs} />}
      <Stack gap="lg" key={kept ? 'kept' : 'typed'}>
        <FormMessages problem={problems['']} isKept={kept !== null} />
        {state.opened && <input type="hidden" name="opened" value={opened} />}
        {parts.map((part) => (
          <Fieldset key={part.title} legend={part.title} radius="lg">
            {'hasLines' in part ? (
              <LineEditor
                key={opened} // after a conflict the lines may be those of the other person
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
        <FormFooter submit={submit} cancel={cancel} pending={pending} />
      </Stack>
    </form>
  );
}
