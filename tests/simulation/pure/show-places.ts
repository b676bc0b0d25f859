import { readFileSync } from 'node:fs';

/** Places as people look for them: a line of each line of ours, from the first column on. */
export function showPlaces(places: string[]): string[] {
  const first = new Map<string, number>();
  for (const place of places) {
    const [file = '', line = '', column = ''] = place.split(':');
    const key = `${file}:${line}`;
    first.set(key, Math.min(first.get(key) ?? Number.POSITIVE_INFINITY, Number(column)));
  }
  return [...first].map(([key, column]) => {
    const [file = '', line = ''] = key.split(':');
    const text = readFileSync(file, 'utf8').split('\n')[Number(line) - 1] ?? '';
    return `${key}: ${text.slice(column - 1).trim()}`;
  });
}
