'use client';

import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { SubmitButton } from './submit-button';

interface Props extends ButtonProps {
  /** Ends in a redirect. */
  action(): Promise<void>;
  /** The question, and what the button that says yes is called. */
  question: string;
  confirm: string;
  /** What the button that says no is called. */
  decline?: string;
  /** What will happen, in sentences. */
  consequences: string[];
  children: ReactNode;
}

/** A button that asks first. */
export function ConfirmButton(props: Props) {
  const { action, question, confirm, decline = 'Cancel', consequences, children, ...button } = props;
  const [opened, { open, close }] = useDisclosure();
  return (
    <>
      <Button size="sm" variant="default" onClick={open} aria-haspopup="dialog" {...button}>
        {children}
      </Button>
      <Modal
        opened={opened}
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
              <SubmitButton {...(button.color && { color: button.color })}>{confirm}</SubmitButton>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}
