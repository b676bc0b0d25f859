import type { Outcome } from './history';
import { addTally } from './tally';

export interface Totals extends Outcome {
  histories: number;
  seconds: number;
}

export const noTotals = (): Totals => ({
  histories: 0,
  seconds: 0,
  deliveries: 0,
  crashes: 0,
  runs: 0,
  ties: 0,
  rows: 0,
  steps: {},
  mishaps: {},
});

export function add(totals: Totals, { steps = {}, mishaps = {}, ...more }: Partial<Totals>): void {
  for (const key of Object.keys(more) as (keyof typeof more)[]) totals[key] += more[key] ?? 0;
  addTally(totals.steps, steps);
  addTally(totals.mishaps, mishaps);
}
