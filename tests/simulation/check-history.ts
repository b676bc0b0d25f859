import fc from 'fast-check';
import { plans } from './draw-plan';
import { type Outcome, runHistory, WrongEnd } from './history';
import type { Plan } from './plan';
import type { Stage } from './stage';

export interface Failure {
  seed: number;
  /** With the seed, what replays the shrunk history. */
  path: string;
  error: string;
  /** The shrunk history and how its rows differ, for people to read. */
  report: string;
}

export type Checked = { outcome: Outcome } | { failure: Failure };

/** Runs the history of a seed; one that fails is made smaller first, for so many milliseconds. */
export async function checkHistory(stage: Stage, seed: number, shrinkFor: number): Promise<Checked> {
  let outcome: Outcome | undefined;
  const property = fc.asyncProperty(plans, async (plan) => {
    outcome = await runHistory(stage, plan, seed);
  });
  const details = await fc.check(property, {
    seed,
    numRuns: 1,
    ...(shrinkFor === 0 ? { endOnFailure: true } : { interruptAfterTimeLimit: shrinkFor }),
  });
  if (!details.failed && outcome) return { outcome };
  // Time ran out before it had ended, as it does where the process was stopped for a while.
  if (details.counterexample === null) return replayHistory(stage, seed, '0');
  const [plan] = details.counterexample;
  const error = details.errorInstance;
  const path = details.counterexamplePath ?? '0';
  return { failure: { seed, path, error: nameOf(error), report: describe(plan, error) } };
}

/** Runs one history of a seed, and none of its smaller ones. */
export async function replayHistory(stage: Stage, seed: number, path: string): Promise<Checked> {
  const [plan] = fc.sample(plans, { seed, path, numRuns: 1 });
  if (!plan) throw new Error(`${seed}:${path} is no history`);
  try {
    return { outcome: await runHistory(stage, plan, seed) };
  } catch (error) {
    return { failure: { seed, path, error: nameOf(error), report: describe(plan, error) } };
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function describe(plan: Plan | undefined, error: unknown): string {
  const { steps: _, fates: __, api, ...setting } = plan ?? { steps: [], fates: [], api: [] };
  const lines = [JSON.stringify({ ...setting, api: api.map(({ kind }) => kind) })];
  if (!(error instanceof WrongEnd)) return [...lines, stackOf(error)].join('\n');
  return [
    ...lines,
    ...error.log,
    `${error.stage}:`,
    ...error.differences.map(
      ({ what, expected, actual }) =>
        `  ${what}\n    expected ${JSON.stringify(expected)}\n    actual   ${JSON.stringify(actual)}`,
    ),
  ].join('\n');
}

const stackOf = (error: unknown) => (error instanceof Error ? String(error.stack) : String(error));
