import { z } from 'zod';
import type { FieldError } from '../errors';
import { fromThousandths, MAX_AMOUNT, toAmountText, toThousandths } from '../money';
import { amount, amountProblem, currencyCode, toAmountColumn } from '../records/fields';
import type { Row, Writing } from '../records/record-kind';
import { type LineRow, linesField, toLineRow } from './line-fields';
import { lineTotals } from './line-totals';

const SUMS = ['subtotal', 'tax', 'total'] as const;

/** What an invoice or a sales document is over: lines, or what comes from elsewhere with its sums alone. */
export const amountFields = {
  currency: currencyCode.optional(),
  subtotal: amount.optional(),
  tax: amount.optional(),
  total: amount.optional(),
  lines: linesField.optional(),
};

// Made once: a schema is compiled at its first use, which takes longer than to use it.
const sums = z.object({
  subtotal: amountFields.subtotal,
  tax: amountFields.tax,
  total: amountFields.total,
});

/** The lines and sums of a record once a draft has set some: of what has lines, what these come to. */
export function toAmounts(values: Row, before: Row | null): Row {
  const given = values.lines === undefined ? null : linesField.parse(values.lines).map(toLineRow);
  const lines = given ?? linesOf(before);
  if (lines.length === 0) return sumsAlone(values, before);
  const { subtotal, tax, total } = lineTotals(lines, currencyOf({ ...before, ...values }));
  return { ...(given && { lines: given }), subtotal, tax, total };
}

/** The other values of a draft. */
export function withoutAmounts({ subtotal: _, tax: __, total: ___, lines: ____, ...rest }: Row): Row {
  return rest;
}

/** What speaks against the lines and sums of a record that is about to be written. */
export function amountProblems({ after, values }: Writing): FieldError[] {
  if (after.total === undefined)
    return [{ field: 'lines', message: 'at least one line, or a total, is needed' }];
  const currency = currencyOf(after);
  if (Number(after.total) < 0)
    return [{ field: 'lines', message: 'the lines must not add up to less than zero' }];
  if (Number(after.total) > MAX_AMOUNT) return [{ field: 'lines', message: 'the lines add up to too much' }];
  return SUMS.flatMap((field) => {
    const text = String(after[field]);
    const isAsGiven = values[field] === undefined || toAmountColumn(values[field]) === text;
    const problem = isAsGiven
      ? amountProblem(Number(text) < 0 ? null : text, currency)
      : `does not agree with ${linesOf(after).length > 0 ? 'the lines' : 'the rest'}: ${toAmountText(text, currency)}`;
    return problem === undefined ? [] : [{ field, message: problem }];
  });
}

/** A sum that is left out follows from the others. */
function sumsAlone(values: Row, before: Row | null): Row {
  const isSame = (field: string) =>
    values[field] === undefined || toAmountColumn(values[field]) === before?.[field];
  if (before && SUMS.every(isSame)) return {};
  const { subtotal, tax, total } = sums.parse(values);
  if (subtotal === undefined && total === undefined) return {};
  const parts = (value: number | undefined) => toThousandths(String(value ?? 0));
  const taxed = tax === undefined && subtotal !== undefined && total !== undefined;
  const ofTax = taxed ? parts(total) - parts(subtotal) : parts(tax);
  const net = subtotal === undefined ? parts(total) - ofTax : parts(subtotal);
  return {
    subtotal: fromThousandths(net),
    tax: fromThousandths(ofTax),
    total: fromThousandths(net + ofTax),
  };
}

export const linesOf = (row: Row | null): LineRow[] => (row?.lines ?? []) as LineRow[];
const currencyOf = (row: Row): string => String(row.currency ?? 'eur');
