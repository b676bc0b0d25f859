import { formatDate } from '@/app/_components/format';
import type { FilterField } from './filter-field';

/** What a filter is set to, as its chip says it; null: to nothing. */
export function filterText(field: FilterField, values: Record<string, string>): string | null {
  if ('presets' in field) return datesText(field.presets, values);
  const { [field.name]: value } = values;
  if (!value || !('options' in field)) return value || null;
  return field.options.find((option) => option.value === value)?.label ?? value;
}

function datesText(
  presets: { label: string; from: string; to: string }[],
  { from, to }: Record<string, string>,
): string | null {
  if (!from && !to) return null;
  const preset = presets.find((one) => one.from === from && one.to === to);
  if (preset) return preset.label;
  if (!from) return `to ${dateText(to)}`;
  return to ? `${dateText(from)} – ${dateText(to)}` : `from ${dateText(from)}`;
}

const dateText = (date = '') => (/^\d{4}-\d\d-\d\d$/.test(date) ? formatDate(date) : date);
