import { fromMinorUnits } from '../money';
import { asInteger, asText } from './read';
import { UnstorableError } from './unstorable';

/** An amount in minor units, as a payload writes it. @throws UnstorableError where it cannot be read exactly */
export function asAmount(value: unknown): number | null {
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || Number.isSafeInteger(number)) return asInteger(number);
  throw new UnstorableError(`The amount ${number} is no whole number of at most twelve digits.`);
}

/** @throws UnstorableError where no column holds it */
export function toCurrency(value: unknown): string {
  const currency = asText(value)?.toLowerCase() ?? 'usd';
  if (/^[a-z]{3}$/.test(currency)) return currency;
  const shown = JSON.stringify(currency.slice(0, 20));
  throw new UnstorableError(`The currency ${shown} is no code of three letters.`);
}

/** Minor units in whole ones, as decimal text. @throws UnstorableError where no column holds it */
export function toMoney(minor: number, currency: string): string {
  const amount = fromMinorUnits(minor, currency);
  if (!/^-?\d{13}/.test(amount)) return amount;
  throw new UnstorableError(`The amount ${amount} ${currency.toUpperCase()} has more than twelve digits.`);
}
