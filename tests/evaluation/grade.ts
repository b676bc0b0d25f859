import type { Figure } from './question';

/** Returns the text after the last `ANSWER:` of a model. Returns '' if it did not write one. */
export function answerOf(text: string): string {
  const lines = [...text.matchAll(/^\W*ANSWER\**:(.*)$/gim)];
  return (lines.at(-1)?.[1] ?? '').trim();
}

/**
 * Returns whether the last `ANSWER:` of a model's text is the figure. Compares numbers by value, lists as sets, and
 * texts regardless of case.
 */
export function isRight(text: string, figure: Figure): boolean {
  const answer = answerOf(text);
  if (typeof figure === 'number') return toNumber(answer) === figure;
  if (typeof figure === 'string') return normalize(answer) === normalize(figure);
  const answered = new Set(answer.split(/[,;]/).map(normalize).filter(Boolean));
  const wanted = new Set(figure.map(normalize));
  return answered.size === wanted.size && [...wanted].every((item) => answered.has(item));
}

/** Reads the only number of a text such as `1,234.50 EUR`. Returns undefined if the text has none or several. */
function toNumber(text: string): number | undefined {
  const numbers = text.replace(/(?<=\d),(?=\d{3}(?!\d))/g, '').match(/-?\d+(\.\d+)?/g) ?? [];
  return numbers.length === 1 ? Number(numbers[0]) : undefined;
}

/** A decimal number that is not a part of an IP address or a version with several dots. */
const DECIMAL = /(?<![\d.])\d+\.\d+(?![\d.])/g;

function normalize(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(DECIMAL, (number) => String(Number(number)))
    .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
    .replace(/\s+/g, ' ');
}
