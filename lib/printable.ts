import type { z } from 'zod';

/**
 * Code points that documents can print, as ranges in hexadecimal: those of the documents' font, and the two hyphens
 * that `toPrinted` replaces. A test compares them with the font. Domain code uses this list, because loading the font
 * takes longer than writing an invoice.
 */
const RANGES = `20-7e a0-17f 192 1a0-1a1 1af-1b0 1ea-1ed 1f0 1fa-1ff 218-21b 237 259 2bc 2c6-2c7 2c9 2d8-2dd 2f3 300-304
306-30c 30f 312 323 326-328 384-38a 38c 38e-3a1 3a3-3ce 3d1-3d2 3d6 400-486 488-513 5b0-5be 5c1-5c2 5c7 5d0-5ea 1e00-1e01
1e3e-1e3f 1e80-1e85 1e9e 1ea0-1ef9 1f4d 1fde 2000-200b 2010-2011 2013-2015 2017-201e 2020-2022 2026 2030 2032-2033
2039-203a 203c 2044 2070 2074-207a 207c-208a 208c-208e 2095-209c 20a3-20a4 20a7 20aa-20ac 2105 2113 2116 2120 2122 2126
212e 215b-215e 2202 2206 220f 2211-2212 2215 221a 221e 222b 2248 2260 2264-2265 25ca a7b3-a7b5 ab53 fb00-fb04 fb2a-fb36
fb38-fb3c fb3e fb40-fb41 fb43-fb44 fb46-fb4b`;

const PRINTABLE = new RegExp(
  `[\\s${RANGES.split(/\s+/)
    .map((range) => range.replace(/[\da-f]+/g, (code) => `\\u{${code}}`))
    .join('')}]`,
  'u',
);

/** Returns a text as documents print it. Composes accented letters, and replaces two hyphens that the font lacks. */
export const toPrinted = (text: string): string => text.normalize('NFC').replace(/[\u2010\u2011]/g, '-');

/** Returns up to five characters of a text that documents cannot print. */
export function unprintable(text: string): string[] {
  const lacking = [...new Set(text.normalize('NFC'))].filter((character) => !PRINTABLE.test(character));
  return lacking.slice(0, 5);
}

/** Returns a sentence without a full stop for each text of an invoice that documents cannot print. */
export function printProblems(
  parties: Record<'company' | 'customer', object>,
  lines: { text: string }[],
): string[] {
  const fields = Object.entries(parties).flatMap(([owner, party]) =>
    Object.entries(party).map(([field, text]) => [`The ${owner}’s ${field.replaceAll('_', ' ')}`, text]),
  );
  const texts = [...fields, ...lines.map(({ text }, at) => [`Line ${at + 1}`, text])];
  return texts.flatMap(([name, text]) => {
    const lacking = typeof text === 'string' ? unprintable(text) : [];
    return lacking.length > 0
      ? `${name} contains ${lacking.join(' ')}, which the font of documents lacks`
      : [];
  });
}

/** Zod refinement that refuses a text with characters that documents cannot print. */
export function isPrintable(text: string, context: z.RefinementCtx): void {
  const lacking = unprintable(text);
  if (lacking.length === 0) return;
  const message = `must not contain ${lacking.join(' ')}, which the font of documents lacks`;
  context.addIssue({ code: 'custom', message });
}
