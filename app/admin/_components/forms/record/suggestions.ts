import { COUNTRIES, countryName } from '@/lib/countries';
import { CURRENCIES } from '@/lib/money';
import type { FormField } from '../field';

// Generate these options only on the server, because a browser may use another name for a country or currency.

/** Returns the form field for a country. Its value is the English name. Typing the code also suggests the country. */
export const countryField = (): FormField => ({
  name: 'country',
  label: 'Country',
  kind: 'suggest',
  options: COUNTRIES.map((code) => ({ value: countryName(code), label: code })).sort((a, b) =>
    a.value.localeCompare(b.value),
  ),
});

/** Returns the form field for a currency. Its value is the code. Typing the English name also suggests the currency. */
export function currencyField(): FormField {
  const names = new Intl.DisplayNames('en-GB', { type: 'currency' });
  const options = CURRENCIES.map((code) => code.toUpperCase()).map((code) => ({
    value: code,
    label: names.of(code) ?? code,
  }));
  return { name: 'currency', label: 'Currency', kind: 'suggest', required: true, options };
}
