import { type SteppedKind, stepsFrom } from '@/lib/records/take-step';
import type { StepText } from './record-actions';

type StepAction = (id: number, version: number, name: string) => Promise<void>;

/** The steps that the status of a record allows, as its page offers them. */
export function actionsOf<Name extends string>(
  stepped: SteppedKind<Name>,
  texts: Record<Name, StepText>,
  { id, status }: { id: number; status: string },
  version: number,
  step: StepAction,
) {
  return stepsFrom(stepped, status).map((name) => ({
    ...texts[name],
    action: step.bind(null, id, version, name),
  }));
}
