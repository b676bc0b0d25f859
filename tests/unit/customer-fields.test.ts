import { describe, expect, test } from 'vitest';
import { COUNTRIES, isInEu, normalVatId, vatIdProblem } from '@/lib/countries';
import { CURRENCIES } from '@/lib/money';
import { countryCode, currencyCode } from '@/lib/records/fields';

describe('a country', () => {
  test.each([
    ['AT', 'AT'],
    ['at', 'AT'],
    [' de ', 'DE'],
    ['Austria', 'AT'],
    ['AUSTRALIA', 'AU'],
    ['Österreich', 'AT'],
    ['osterreich', 'AT'],
    ['Deutschland', 'DE'],
    ['United  Kingdom', 'GB'],
    ['UK', 'GB'],
    ['Czech Republic', 'CZ'],
    ['Czechia', 'CZ'],
    ['Côte d’Ivoire', 'CI'],
    ['Schweiz', 'CH'],
  ])('%j is kept as %s', (typed, code) => expect(countryCode.parse(typed)).toBe(code));

  test.each(['Austrai', 'AUT', 'XX', 'EU', 'A', '%%', 'D E'])('%j is refused and not cut', (typed) => {
    expect(countryCode.safeParse(typed).error?.issues[0]?.message).toBe(
      'must be a country by its name or its two letters, such as Germany or DE',
    );
  });

  test('every country has a name that leads back to its code', () => {
    const names = new Intl.DisplayNames('en-GB', { type: 'region' });
    expect(COUNTRIES).toHaveLength(250);
    expect(COUNTRIES.filter((code) => countryCode.parse(String(names.of(code))) !== code)).toEqual([]);
  });
});

describe('a currency', () => {
  test.each([
    ['EUR', 'eur'],
    ['eur', 'eur'],
    [' Usd ', 'usd'],
    ['dem', 'dem'],
  ])('%j is kept as %s', (typed, code) => expect(currencyCode.parse(typed)).toBe(code));

  test.each(['euro', '€', 'eu', 'zzz'])('%j is refused', (typed) => {
    expect(currencyCode.safeParse(typed).error?.issues[0]?.message).toBe(
      'must be the code of a currency, such as EUR',
    );
  });

  test('every currency that a form offers is accepted', () => {
    expect(CURRENCIES.filter((code) => !currencyCode.safeParse(code).success)).toEqual([]);
    expect(new Set(CURRENCIES).size).toBe(CURRENCIES.length);
  });
});

describe('a VAT ID', () => {
  test('there are 27 members of the EU', () => expect(COUNTRIES.filter(isInEu)).toHaveLength(27));

  test.each([
    ['de 123 456 789', 'DE123456789'],
    ['ATU-1234.5678', 'ATU12345678'],
    ['el123456789', 'EL123456789'],
    [' CHE-123.456.789 MWST ', 'CHE-123.456.789 MWST'],
    ['12/345/67890', '12/345/67890'],
  ])('%j is kept as %j', (typed, kept) => expect(normalVatId(typed)).toBe(kept));

  test.each([
    ['ATU12345678', 'AT'],
    ['EL123456789', 'GR'],
    ['NL123456789B01', 'NL'],
    ['ESB12345678', 'ES'],
    ['ESX1234567L', 'ES'],
    ['IE1234567WA', 'IE'],
    ['FRXX123456789', 'FR'],
    ['GB123456789', 'GB'],
    ['CHE-123.456.789 MWST', 'CH'],
    ['DE123456789', 'US'],
    ['DE123456789', null],
    ['12/345/67890', null],
  ])('%s fits a customer of %s', (vatId, country) => {
    expect(vatIdProblem(vatId, country)).toBeUndefined();
  });

  test.each([
    ['DE12345678', 'DE', 'is not a VAT ID of Germany, such as DE123456789'],
    ['123456789', 'DE', 'is not a VAT ID of Germany, such as DE123456789'],
    ['AT12345678', 'AT', 'is not a VAT ID of Austria, such as ATU12345678'],
    ['GR123456789', 'GR', 'is not a VAT ID of Greece, such as EL123456789'],
    ['DE123456789', 'AT', 'is one of Germany, but the country is Austria: correct one of the two'],
    ['DE1', null, 'is not a VAT ID of Germany, such as DE123456789'],
    ['ITX', 'IT', 'is not a VAT ID of Italy, such as IT12345678901'],
  ])('%s does not fit a customer of %s', (vatId, country, problem) => {
    expect(vatIdProblem(vatId, country)).toBe(problem);
  });
});
