import { formatField } from '@/app/_components/format';

/** Values of an enum as the options of a filter. */
export function choiceOf(values: readonly string[]): { value: string; label: string }[] {
  return values.map((value) => ({ value, label: formatField(value) }));
}
