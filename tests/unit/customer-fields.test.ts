import { expect, test } from 'vitest';
import { COUNTRIES, isInEu, normalVatId, vatIdProblem } from '@/lib/countries';
import { taxContradiction, taxRuleOf } from '@/lib/customers/tax';
import { CURRENCIES } from '@/lib/money';
import { countryCode, currencyCode, paymentTerms } from '@/lib/records/fields';

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
])('the country %j is stored as %s', (typed, code) => expect(countryCode.parse(typed)).toBe(code));

test.each(['Austrai', 'AUT', 'XX', 'EU', 'A', '%%', 'D E'])('the country %j is refused', (typed) => {
  expect(countryCode.safeParse(typed).error?.issues[0]?.message).toBe(
    'must be a country by its name or its two letters, such as Germany or DE',
  );
});

test('every country is recognized by its English name', () => {
  const names = new Intl.DisplayNames('en-GB', { type: 'region' });
  expect(COUNTRIES).toHaveLength(250);
  expect(COUNTRIES.filter((code) => countryCode.parse(String(names.of(code))) !== code)).toEqual([]);
});

test.each([
  ['EUR', 'eur'],
  ['eur', 'eur'],
  [' Usd ', 'usd'],
  ['dem', 'dem'],
])('the currency %j is stored as %s', (typed, code) => expect(currencyCode.parse(typed)).toBe(code));

test('an unknown currency is refused, and every currency offered by a form is accepted', () => {
  const message = 'must be the code of a currency, such as EUR';
  for (const typed of ['euro', '€', 'eu', 'zzz']) {
    expect([typed, currencyCode.safeParse(typed).error?.issues[0]?.message]).toEqual([typed, message]);
  }
  expect(CURRENCIES.filter((code) => !currencyCode.safeParse(code).success)).toEqual([]);
  expect(new Set(CURRENCIES).size).toBe(CURRENCIES.length);
});

test.each([
  ['Net 60.', true],
  ['Order #12, net 60.', true],
  ['#SKONTO#TAGE=14#PROZENT=2.00#', true],
  ['#SKONTO#TAGE=7#PROZENT=3.00#BASISBETRAG=-50.00#', true],
  ['#SKONTO#TAGE=14#PROZENT=2#', false],
  ['#SKONTO#TAGE=14#PROZENT=2.00# or 30 days net.', false],
  [' # 12', false],
])('payment terms that start with # must be a discount of XRechnung: %j', (terms, isValid) => {
  const { error } = paymentTerms.safeParse(terms);
  expect(error?.issues[0]?.message).toEqual(isValid ? undefined : expect.stringContaining('#SKONTO#'));
});

const HOME = { country: 'DE', rate: 19 };
const of = (values: object, home = HOME) =>
  taxRuleOf({ tax_exempt: false, country: null, vat_id: null, ...values }, home);

test.each([
  [{}, 19, null],
  [{ country: 'DE', vat_id: 'DE123456789' }, 19, null],
  [{ tax_exempt: true, country: 'DE' }, 0, 'The customer is exempt from tax.'],
  [
    { country: 'AT', vat_id: 'ATU12345678' },
    0,
    /^The customer has a VAT ID and is in Austria, .*reverse cha/,
  ],
  [{ country: 'AT' }, 19, null],
  [{ country: 'CH' }, 0, 'The customer is in Switzerland, outside the EU.'],
  [{ country: 'GB', vat_id: 'GB123456789' }, 0, 'The customer is in United Kingdom, outside the EU.'],
])('the default tax rate of a customer with %j is %i %', (values, rate, reason) => {
  const why = reason instanceof RegExp ? expect.stringMatching(reason) : reason;
  expect(of(values)).toEqual({ rate, reason: why });
});

test('a domestic customer has the tax rate of the home country, and outside the EU there is no reverse charge', () => {
  expect(of({ country: 'AT' }, { country: 'AT', rate: 20 })).toEqual({ rate: 20, reason: null });
  const reason = 'The customer is in Austria, outside Switzerland.';
  const abroad = of({ country: 'AT', vat_id: 'ATU12345678' }, { country: 'CH', rate: 8.1 });
  expect(abroad).toEqual({ rate: 0, reason });
});

test('a tax rate that contradicts the customer’s default rate is reported', () => {
  const [usual, exempt] = [of({}), of({ tax_exempt: true })];
  const [exemption, taxed] = ['The customer is exempt from tax.', 'The customer pays tax.'];
  expect(taxContradiction(exempt, [0, 19])).toBe(`${exemption} The usual rate is 0 %, but line 2 has 19 %.`);
  expect(taxContradiction(usual, [0])).toBe(`${taxed} The usual rate is 19 %, but line 1 has 0 %.`);
  for (const rates of [[19, 7, null], []]) expect(taxContradiction(usual, rates)).toBeNull();
  expect(taxContradiction(exempt, [0, null])).toBeNull();
});

test('27 countries count as members of the EU', () => expect(COUNTRIES.filter(isInEu)).toHaveLength(27));

test.each([
  ['de 123 456 789', 'DE123456789'],
  ['ATU-1234.5678', 'ATU12345678'],
  ['el123456789', 'EL123456789'],
  [' CHE-123.456.789 MWST ', 'CHE-123.456.789 MWST'],
  ['che-123.456.789', 'CHE-123.456.789'],
  ['no123456789mva', 'NO123456789mva'],
  ['12/345/67890', '12/345/67890'],
])('the VAT ID %j is stored as %j', (typed, kept) => expect(normalVatId(typed)).toBe(kept));

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
])('the VAT ID %s fits a customer with the country %s', (vatId, country) => {
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
])('the VAT ID %s does not fit a customer with the country %s', (vatId, country, problem) => {
  expect(vatIdProblem(vatId, country)).toBe(problem);
});
