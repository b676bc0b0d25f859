'use client';

import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { type ReactNode, useActionState, useEffect, useState } from 'react';
import { ProblemAlert } from '@/app/_components/problem-alert';
import { SubmitButton } from './submit-button';

interface Refused {
  problem: string;
}

export interface Question {
  /** Runs after the confirmation. Ends in a redirect, or returns why it was refused. */
  action(): Promise<Refused>;
  question: string;
  /** Label of the button that confirms. */
  confirm: string;
  /** Label of the button that closes the dialog without running the action. Defaults to “Cancel”. */
  decline?: string | undefined;
  /** Sentences that say what the action will do. */
  consequences: string[];
  color?: ButtonProps['color'];
}

interface ConfirmDialogProps extends Question {
  opened: boolean;
  close(): void;
}

/** Shows the dialog of a `ConfirmButton`. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { action, question, confirm, decline = 'Cancel', consequences, opened, close, color } = props;
  // Mantine remembers where to return the focus only when `opened` changes to true, so the dialog first renders closed.
  const [shown, setShown] = useState(false);
  useEffect(() => setShown(opened), [opened]);
  return (
    <Modal
      opened={shown}
      onClose={close}
      title={
        <Text fw={600} component="span">
          {question}
        </Text>
      }
      radius="lg"
      centered
      withCloseButton={false}
      overlayProps={{ backgroundOpacity: 0.4 }}
      lockScroll={false} // the scroll lock adds a style sheet, which the Content-Security-Policy forbids
    >
      <Confirmation action={action}>
        {consequences.map((sentence) => (
          <Text key={sentence} size="sm" className="break-anywhere">
            {sentence}
          </Text>
        ))}
        <Group justify="flex-end" gap="xs" mt="sm">
          <Button variant="default" size="sm" onClick={close} data-autofocus>
            {decline}
          </Button>
          <SubmitButton {...(color && { color })}>{confirm}</SubmitButton>
        </Group>
      </Confirmation>
    </Modal>
  );
}

/** Shows the dialog's form. It is a component of its own, because closing the dialog must forget the last refusal. */
function Confirmation({ action, children }: Pick<Question, 'action'> & { children: ReactNode }) {
  const [refused, send] = useActionState<Refused | null>(() => action(), null);
  return (
    <form action={send}>
      <Stack gap="sm">
        <ProblemAlert problem={refused?.problem} />
        {children}
      </Stack>
    </form>
  );
}
