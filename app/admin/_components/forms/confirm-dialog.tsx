'use client';

import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { SubmitButton } from './submit-button';

export interface Question {
  /** Runs after the confirmation, and ends in a redirect. */
  action(): Promise<void>;
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
      <form action={action}>
        <Stack gap="sm">
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
        </Stack>
      </form>
    </Modal>
  );
}
