import { COUNTRIES, countryName } from '@/lib/countries';
import { CURRENCIES } from '@/lib/money';
import type { FormField } from '../field';

// Made on the server: a browser may know a country by another name.

/** The field of a country. */
export const countryField = (): FormField => ({
  name: 'country',
  label: 'Country',
  kind: 'suggest',
  options: COUNTRIES.map((code) => ({ value: countryName(code), label: code })).sort((a, b) =>
    a.value.localeCompare(b.value),
  ),
});

/** The field of a currency. */
export function currencyField(): FormField {
  const names = new Intl.DisplayNames('en-GB', { type: 'currency' });
  const options = CURRENCIES.map((code) => code.toUpperCase()).map((code) => ({
    value: code,
    label: names.of(code) ?? code,
  }));
  return { name: 'currency', label: 'Currency', kind: 'suggest', required: true, options };
}
