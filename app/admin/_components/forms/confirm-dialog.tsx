'use client';

import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { SubmitButton } from './submit-button';

export interface Question {
  /** Ends in a redirect. */
  action(): Promise<void>;
  question: string;
  /** The labels of the buttons that say yes and no. */
  confirm: string;
  decline?: string | undefined;
  /** What will happen, in sentences. */
  consequences: string[];
  color?: ButtonProps['color'];
}

interface ConfirmDialogProps extends Question {
  opened: boolean;
  close(): void;
}

/** What a `ConfirmButton` asks. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { action, question, confirm, decline = 'Cancel', consequences, opened, close, color } = props;
  // The dialog gives the focus back to where it was when it opened, which it notes only if it was closed before.
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
      lockScroll={false} // it would write a style sheet, which the policy forbids
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
