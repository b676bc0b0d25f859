/** How often each kind of something happened. */
export type Tally = Record<string, number>;

export function count(tally: Tally, kind: string, times = 1): void {
  if (times > 0) tally[kind] = (tally[kind] ?? 0) + times;
}

export function addTally(tally: Tally, more: Tally): void {
  for (const [kind, times] of Object.entries(more)) count(tally, kind, times);
}

/** The most frequent first. */
export function showTally(tally: Tally): string {
  return Object.entries(tally)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, times]) => `${kind} ${times}`)
    .join(', ');
}
