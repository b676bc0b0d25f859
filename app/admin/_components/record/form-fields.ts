/** A field of a record's form. */
export interface FormField {
  name: string;
  label: string;
  /** Text where it is left out. */
  kind?: 'choice' | 'date' | 'decimal' | 'email' | 'flag' | 'lines' | 'whole' | undefined;
  /** Of a choice. */
  options?: { value: string; label: string }[];
  description?: string;
  maxLength?: number;
  required?: boolean;
}

/** Fields that stand together, under a title. */
export interface FormPart {
  title: string;
  fields: FormField[];
}

/** What a field holds, as people read it. */
export function fieldText({ kind, options }: FormField, value: string): string {
  if (kind === 'flag') return value === 'on' ? 'yes' : 'no';
  const text = options?.find((option) => option.value === value)?.label ?? value;
  return text.replaceAll('\n', ', ') || 'nothing';
}
