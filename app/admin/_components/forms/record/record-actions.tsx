import { IconPencil } from '@tabler/icons-react';
import type { ReactElement, ReactNode } from 'react';
import { LinkButton } from '@/app/_components/links';
import { type SteppedKind, stepsFrom } from '@/lib/records/steps';
import { deleteDraft } from '@/lib/sales-documents/save-sales-documents';
import { PageActions } from '../../page/page-actions';
import { ConfirmButton } from '../confirm-button';
import { remove, step } from './actions';
import { KINDS, type KindName, type StaffKind } from './kinds';

/** The texts of the button for a status change and of its confirmation dialog. */
export interface StepText {
  label: string;
  question: string;
  /** Sentences that say what the step will do. */
  consequences: string[];
  /** Whether the step is hard or impossible to undo. */
  isGrave?: boolean;
  /** Whether this is the most common next step. Its button is then the primary button, unless `primary` is given. */
  isNext?: boolean;
  /** Label of the dialog's cancel button. */
  decline?: string;
}

type StepOf<Kind extends KindName> = keyof (typeof KINDS)[Kind]['steps']['steps'] & string;

interface RecordActionsProps<Kind extends KindName> {
  kind: Kind;
  texts: Record<StepOf<Kind>, StepText>;
  /** The record, in the version that the page shows. */
  record: { id: number; version: number; status: string };
  /** Name or number of the record. The confirmation dialogs show it. */
  name: string;
  /** Label of the edit link, and its path below the record's page. Defaults to `EDIT`. Null prevents editing. */
  edit?: { path: string; label: string } | null | undefined;
  /** Sentence that the dialog shows before the record is deleted. Null if the record cannot be deleted. */
  removal: string | null;
  /** Steps to hide although the record's status allows them, because something else rules them out. */
  except?: StepOf<Kind>[];
  /** Primary button, for a record whose most common next action is not a status change. */
  primary?: ReactNode;
  /** More actions for the menu. */
  children?: ReactNode;
  /** More menu actions, for steps that are hard or impossible to undo. */
  grave?: ReactElement[];
}

/** Shows the actions of a record. Steps and deletion are refused if the record has changed since the page loaded. */
export function RecordActions<Kind extends KindName>(props: RecordActionsProps<Kind>) {
  const { kind, texts, record, name, edit = EDIT, removal, except = [] } = props;
  const { id, version, status } = record;
  const { path, steps, remove: removeIt }: StaffKind = KINDS[kind];
  const noun = removeIt === deleteDraft ? 'draft' : kind;
  const offered = stepsFrom(steps as SteppedKind<StepOf<Kind>>, status).filter(
    (one) => !except.includes(one),
  );
  const next = props.primary ? undefined : offered.find((one) => texts[one].isNext);
  const editIsPrimary = !props.primary && next === undefined;
  const others = offered.filter((one) => one !== next);
  const stepButton = (one: StepOf<Kind>) => {
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
      href={`${path}/${id}/${edit.path}`}
      size="sm"
      variant={editIsPrimary ? 'filled' : 'default'}
      leftSection={<IconPencil size={16} aria-hidden />}
    >
      {edit.label}
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

const EDIT = { path: 'edit', label: 'Edit' };

/** Sentence for the delete dialog of a record that no other record refers to. */
export const ALONE = 'No other record refers to it.';
