import { Group } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { LinkButton } from '../../../_components/links';
import { ConfirmButton } from '../confirm-button';

/** How a step is offered and asked for. */
export interface StepText {
  label: string;
  question: string;
  /** What will happen, in sentences. */
  consequences: string[];
  /** Cannot be taken back, or not easily. */
  isGrave?: boolean;
  /** What the button that says no is called. */
  decline?: string;
}

interface Props {
  /** What the record is, and what it is called. */
  noun: string;
  name: string;
  edit: string;
  /** Those that its status allows. */
  steps: (StepText & { action(): Promise<void> })[];
  /** Null where something refers to the record. */
  remove: (() => Promise<void>) | null;
}

/** What staff can do with a record as they see it: of one that has changed since, nothing. */
export function RecordActions({ noun, name, edit, steps, remove }: Props) {
  return (
    <Group gap="xs">
      <LinkButton href={edit} size="sm" leftSection={<IconPencil size={16} aria-hidden />}>
        Edit
      </LinkButton>
      {steps.map(({ action, label, question, consequences, isGrave, decline }) => (
        <ConfirmButton
          key={label}
          action={action}
          question={question}
          confirm={label}
          consequences={[name, ...consequences]}
          {...(decline && { decline })}
          {...(isGrave && { color: 'red.9' })}
        >
          {label}
        </ConfirmButton>
      ))}
      {remove && (
        <ConfirmButton
          action={remove}
          question={`Delete this ${noun}?`}
          confirm={`Delete ${noun}`}
          color="red.9"
          consequences={[name, 'No other record refers to it. Its history is kept.']}
        >
          Delete
        </ConfirmButton>
      )}
    </Group>
  );
}
