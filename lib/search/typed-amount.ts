/**
 * An amount as people type it, with two or three decimals: `392.00`, `392,00`, `1,392.00`, `€1.392,00`. As text for
 * SQL; null for anything else, a whole number too, which is likelier a part of a number.
 */
export function typedAmount(text: string): string | null {
  const digits = text.replace(/[€$£\s]/g, '');
  const [, whole, fraction] = /^(\d{1,3}(?:[.,]?\d{3}){0,4})[.,](\d{2,3})$/.exec(digits) ?? [];
  if (whole === undefined || fraction === undefined) return null;
  return `${whole.replace(/[.,]/g, '')}.${fraction}`;
}
