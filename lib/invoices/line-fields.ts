import { z } from 'zod';
import { textLine } from '../fields';
import { MAX_AMOUNT } from '../money';
import { NO_NUMBER } from '../records/fields';

export const MAX_LINES = 500;
const MAX_QUANTITY = 999_999_999;

const decimal = (decimals: number) =>
  z
    .number(NO_NUMBER)
    .refine((value) => Number(value.toFixed(decimals)) === value, `must have at most ${decimals} decimals`);

/** A line of an invoice or a sales document, as people write it. */
export const lineField = z.strictObject({
  text: textLine(500),
  quantity: decimal(3).gt(0, 'must be more than 0').max(MAX_QUANTITY, 'is too large'),
  /** Without tax; negative for a discount. */
  unit_price: decimal(3).min(-MAX_AMOUNT, 'is too small').max(MAX_AMOUNT, 'is too large'),
  tax_rate: decimal(2).min(0, 'must not be negative').max(100, 'must be at most 100'),
});

/** All lines of one, in their order. */
export const linesField = z
  .array(lineField)
  .min(1, 'must be at least one')
  .max(MAX_LINES, `must be at most ${MAX_LINES}`);

/** A line as its row holds it. */
export interface LineRow {
  text: string;
  quantity: string;
  unit_price: string;
  tax_rate: string;
}

export const toLineRow = ({ text, quantity, unit_price, tax_rate }: z.infer<typeof lineField>): LineRow => ({
  text,
  quantity: quantity.toFixed(3),
  unit_price: unit_price.toFixed(3),
  tax_rate: tax_rate.toFixed(2),
});
