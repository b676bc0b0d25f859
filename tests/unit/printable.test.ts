import { expect, test } from 'vitest';
import { loadFonts } from '@/lib/documents/pdf';
import { toPrinted, unprintable } from '@/lib/printable';

/** Code points that the fonts contain although they are not printable. */
const UNPRINTABLE_GLYPHS = new Set([0, 0xd, 0xfeff, 0xfffc, 0xfffd, 0xffff]);

test('a visible character is printable exactly if both fonts of documents contain it', async () => {
  const { regular, bold } = await loadFonts();
  const printed = Array.from({ length: 0x10000 }, (_, code) => code).filter((code) => {
    const character = String.fromCodePoint(code);
    return !/[\s\ud800-\udfff\u2010\u2011]/.test(character) && unprintable(character).length === 0;
  });
  const has = (font: typeof regular, code: number) => font.hasGlyphForCodePoint(code);
  const composed = (code: number) => String.fromCodePoint(code).normalize('NFC').codePointAt(0) ?? 0;
  expect(printed.filter((code) => !has(regular, composed(code)) || !has(bold, composed(code)))).toEqual([]);
  const known = regular.characterSet.filter((code) => !UNPRINTABLE_GLYPHS.has(code) && has(bold, code));
  expect(known.filter((code) => unprintable(String.fromCodePoint(code)).length > 0)).toEqual([]);
});

test('documents can print European names, with accents as one character and special hyphens as plain ones', () => {
  const names = ['Straße Ωμέγα Щука Ёж İstanbul Şişli Łódź Győr Țară Nguyễn', 'Cafe\u0301 A\u2011B 5 €'];
  expect(names.map(unprintable)).toEqual([[], []]);
  expect(toPrinted('Cafe\u0301 A\u2011B')).toBe('Café A-B');
});
