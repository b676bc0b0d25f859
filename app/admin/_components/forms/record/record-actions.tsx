import { IconPencil } from '@tabler/icons-react';
import type { ReactElement, ReactNode } from 'react';
import { type SteppedKind, stepsFrom } from '@/lib/records/steps';
import { LinkButton } from '../../../../_components/links';
import { PageActions } from '../../page/page-actions';
import { ConfirmButton } from '../confirm-button';
import { remove, step } from './actions';
import type { KindName } from './kinds';

/** How a step is offered and asked for. */
export interface StepText {
  label: string;
  question: string;
  /** What will happen, in sentences. */
  consequences: string[];
  /** Cannot be taken back, or not easily. */
  isGrave?: boolean;
  /** What usually comes next. */
  isNext?: boolean;
  /** What the button that says no is called. */
  decline?: string;
}

interface RecordActionsProps<Name extends string> {
  kind: KindName;
  steps: SteppedKind<Name>;
  texts: Record<Name, StepText>;
  /** The record as the page shows it. */
  record: { id: number; version: number; status: string };
  /** What it is, and what it is called. */
  noun: string;
  name: string;
  /** Its form; null where it has none now. */
  edit: { href: string; label?: string } | null;
  /** What deleting it means; null where it is kept. */
  removal: string | null;
  /** Of the steps that its status allows, those that something else forbids. */
  except?: Name[];
  /** What usually comes next, if that is no step of its own. */
  primary?: ReactNode;
  /** What else can be done with it. */
  children?: ReactNode;
  /** What else can be done with it and cannot be taken back. */
  grave?: ReactElement[];
}

/** What staff can do with a record as they see it: of one that has changed since, nothing. */
export function RecordActions<Name extends string>(props: RecordActionsProps<Name>) {
  const { kind, steps, texts, record, noun, name, edit, removal, except = [] } = props;
  const { id, version, status } = record;
  const offered = stepsFrom(steps, status).filter((one) => !except.includes(one));
  const next = props.primary ? undefined : offered.find((one) => texts[one].isNext);
  const editIsPrimary = !props.primary && next === undefined;
  const others = offered.filter((one) => one !== next);
  const stepButton = (one: Name) => {
    const { label, question, consequences, isGrave, decline } = texts[one];
    return (
      <ConfirmButton
        key={one}
        action={step.bind(null, kind, id, version, one)}
        question={question}
        consequences={[name, ...consequences]}
        {...(decline && { decline })}
        {...(isGrave && { color: 'red.9' })}
        {...(one === next && { variant: 'filled' })}
      >
        {label}
      </ConfirmButton>
    );
  };
  const editButton = edit && (
    <LinkButton
      href={edit.href}
      size="sm"
      variant={editIsPrimary ? 'filled' : 'default'}
      leftSection={<IconPencil size={16} aria-hidden />}
    >
      {edit.label ?? 'Edit'}
    </LinkButton>
  );
  return (
    <PageActions
      primary={props.primary || (next === undefined ? editButton : stepButton(next))}
      grave={[
        ...others.filter((one) => texts[one].isGrave).map(stepButton),
        ...(props.grave ?? []),
        removal && (
          <ConfirmButton
            key="delete"
            action={remove.bind(null, kind, id, version)}
            question={`Delete this ${noun}?`}
            confirm={`Delete ${noun}`}
            color="red.9"
            consequences={[name, `${removal} Its history is kept.`]}
          >
            Delete
          </ConfirmButton>
        ),
      ]}
    >
      {!editIsPrimary && editButton}
      {others.filter((one) => !texts[one].isGrave).map(stepButton)}
      {props.children}
    </PageActions>
  );
}

/** What deleting a record means that nothing refers to. */
export const ALONE = 'No other record refers to it.';
