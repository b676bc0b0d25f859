import { hash } from 'node:crypto';

/** Maximum number of lines that Stripe embeds in an invoice. */
export const EMBEDDED_LINES = 10;

interface HashedLine {
  description: string | null;
  periodStart: Date | null;
  periodEnd: Date | null;
  quantity: string | null;
  amount: string;
  discount: string;
  taxes: { amount: string; inclusive: boolean }[];
}

/**
 * Returns a fingerprint of a Stripe invoice's lines, from the facts that all API versions report. Stripe embeds only
 * the first ten lines of a longer invoice, so the fingerprint covers these ten and does not depend on whether the other
 * lines are known. To detect changes of the other lines, it also covers the total and whether the invoice is a draft.
 *
 * @param more the total and whether the invoice is a draft; null for an invoice with at most ten lines
 */
export function hashLines(lines: readonly HashedLine[], more: readonly unknown[] | null): string {
  const facts = lines.slice(0, EMBEDDED_LINES).map((line) => {
    const { description, periodStart, periodEnd, quantity, amount, discount, taxes } = line;
    const taxed = taxes.filter((tax) => Number(tax.amount) !== 0).map((tax) => [tax.amount, tax.inclusive]);
    return [description, periodStart?.getTime(), periodEnd?.getTime(), quantity, amount, discount, taxed];
  });
  return hash('sha256', JSON.stringify([facts, ...(more ?? [])]), 'base64url');
}
