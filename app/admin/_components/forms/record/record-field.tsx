'use client';

import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { CustomerChoice } from '@/lib/customers/find-customers';
import { CustomerField } from './customer-field';
import type { FormField } from './form-fields';
import { SuggestField } from './suggest-field';

interface Props {
  field: FormField;
  value: string;
  problem: string | undefined;
  /** The customer of the record as the form was opened; null if it has none yet. */
  customer: CustomerChoice | null;
  onPick(customer: CustomerChoice | null): void;
  /** Called with the typed currency. */
  onCurrency(code: string): void;
}

// Hints below the fields, so that fields beside each other stand on one line.
const ORDER: ('label' | 'input' | 'description' | 'error')[] = ['label', 'input', 'description', 'error'];

/** A field of a record's form, as its kind asks for. */
export function RecordField({ field, value, problem, customer, onPick, onCurrency }: Props) {
  const { name, label, kind, options, description, maxLength, required = false } = field;
  const input = { name, label, description, required, error: problem, inputWrapperOrder: ORDER };
  // Browsers and React leave these as they were when a form is reset: another value is another field.
  const typed = { ...input, key: value, defaultValue: value };
  if (kind === 'flag') {
    return <Checkbox {...{ name, label, description, error: problem }} defaultChecked={value === 'on'} />;
  }
  if (kind === 'choice') {
    const { key, ...select } = typed;
    return <NativeSelect key={key} {...select} data={options ?? []} />;
  }
  if (kind === 'customer') {
    const { key, ...picked } = typed;
    return <CustomerField key={key} {...picked} first={customer} onPick={onPick} />;
  }
  if (kind === 'suggest') {
    const { key, ...suggested } = typed;
    return (
      <SuggestField
        key={key}
        {...suggested}
        suggestions={(options ?? []).map((option) => ({ value: option.value, about: option.label }))}
        {...(name === 'currency' && { onChange: onCurrency })}
      />
    );
  }
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
