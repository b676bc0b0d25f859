/** A field of a record's form. */
export interface FormField {
  name: string;
  label: string;
  /** Text where it is left out. */
  kind?:
    | 'choice'
    | 'customer'
    | 'date'
    | 'decimal'
    | 'email'
    | 'flag'
    | 'list'
    | 'suggest'
    | 'whole'
    | undefined;
  /** Of a choice; of a field that suggests values, each with a second text to find it by. */
  options?: { value: string; label: string }[];
  description?: string;
  maxLength?: number;
  required?: boolean;
}

/** Fields that stand together under a title, or the lines of an invoice or a sales document. */
export type FormPart = { title: string; fields: FormField[] } | { title: string; hasLines: true };

/** What conflicts can be in. */
export function fieldsOf(parts: FormPart[]): FormField[] {
  return parts.flatMap((part) => ('fields' in part ? part.fields : [{ name: 'lines', label: part.title }]));
}

/** What a field holds, as people read it. */
export function fieldText({ kind, options }: FormField, value: string): string {
  if (kind === 'flag') return value === 'on' ? 'yes' : 'no';
  const text =
    (kind === 'choice' ? options : undefined)?.find((option) => option.value === value)?.label ?? value;
  return text.replaceAll('\n', ', ') || 'nothing';
}
