import type { Merged, Typed, TypedRecord } from '@/lib/records/typed-record';

/** A form of a record, as its action answers. */
export interface FormState {
  typed: Typed;
  /** The record as the form was opened with it; null: it makes a new one. */
  opened: TypedRecord | null;
  /** Of each wrong field its sentence; of '' what concerns no single one. */
  problems: Record<string, string>;
  /** The fields that another person has changed meanwhile; null without a conflict. */
  theirs: Merged['theirs'] | null;
  /** False: the form has not been sent yet. */
  isAnswer: boolean;
}

export type FormAction = (before: FormState, form: FormData) => Promise<FormState>;
