'use client';

import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { FormField } from './form-fields';

interface Props {
  field: FormField;
  value: string;
  problem: string | undefined;
}

// Hints below the fields, so that fields beside each other stand on one line.
const ORDER: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error'];

/** A field of a record's form, as its kind asks for. */
export function RecordField({ field, value, problem }: Props) {
  const { name, label, kind, options, description, maxLength, required = false } = field;
  const input = { name, label, description, required, error: problem, inputWrapperOrder: ORDER };
  if (kind === 'flag') {
    return <Checkbox {...{ name, label, description, error: problem }} defaultChecked={value === 'on'} />;
  }
  // React leaves a select as it was when its form is reset: another value is another select.
  if (kind === 'choice')
    return <NativeSelect key={value} {...input} defaultValue={value} data={options ?? []} />;
  if (kind === 'list') return <Textarea {...input} defaultValue={value} rows={3} autoComplete="off" />;
  return (
    <TextInput
      {...input}
      defaultValue={value}
      autoComplete="off"
      {...(maxLength !== undefined && { maxLength })}
      {...(kind === 'date' && { type: 'date' })}
      {...(kind === 'email' && { inputMode: 'email' as const })}
      {...(kind === 'decimal' && { inputMode: 'decimal' as const })}
      {...(kind === 'whole' && { inputMode: 'numeric' as const })}
    />
  );
}
