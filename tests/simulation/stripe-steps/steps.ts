import type { Step, StepKind } from '../plan';
import type { Scene } from './scene';

/** Each does something at Stripe. @returns what, as a sentence; null where it does not fit */
export type Steps = Partial<Record<StepKind, (scene: Scene, step: Step) => string | null>>;
