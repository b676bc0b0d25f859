import type { DatePreset } from '@/lib/dates';

interface TextField {
  name: string;
  label: string;
  placeholder?: string;
}

interface ChoiceField {
  name: string;
  label: string;
  options: { value: string; label: string }[];
}

/** The first and the last day, in the address as `from` and `to`. */
interface DatesField {
  name: 'from';
  label: string;
  /** Ranges to choose at once. */
  presets: DatePreset[];
}

/** What a list can be narrowed by. */
export type FilterField = TextField | ChoiceField | DatesField;

/** The names that a filter has in an address. */
export const namesOf = (field: FilterField): string[] => ('presets' in field ? ['from', 'to'] : [field.name]);

/** Whether an address narrows a list. */
export const isFiltered = (fields: FilterField[], params: URLSearchParams): boolean =>
  fields.flatMap(namesOf).some((name) => params.has(name));
