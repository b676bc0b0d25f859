import { formatNumber } from '../../_components/format';

/** What became of the rows of a file, as its import noted it. */
export function countsText(counts: Record<string, number>): string {
  const of = (name: string) => formatNumber(counts[name] ?? 0);
  return `${of('created')} new, ${of('changed')} changed, ${of('unchanged')} unchanged, ${of('rejected')} rejected`;
}
