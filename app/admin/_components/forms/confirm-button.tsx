'use client';

import { Button, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import type { Question } from './confirm-dialog';

interface ConfirmButtonProps extends ButtonProps, Omit<Question, 'confirm' | 'color'> {
  /** Label of the dialog's confirm button. Defaults to `children`. */
  confirm?: string;
  children: string;
}

/** The browser loads the dialog's code only when the button is pressed, because most visits never need it. */
const ConfirmDialog = dynamic(() => import('./confirm-dialog').then((part) => part.ConfirmDialog));

/** Shows a button that asks for confirmation in a dialog before it runs its action. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { action, question, children, confirm = children, decline, consequences, ...button } = props;
  const [opened, { open, close }] = useDisclosure();
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button
        size="sm"
        variant="default"
        onClick={() => {
          setAsked(true);
          open();
        }}
        aria-haspopup="dialog"
        {...button}
      >
        {children}
      </Button>
      {isAsked && (
        <ConfirmDialog
          {...{ action, question, confirm, decline, consequences, opened, close, color: button.color }}
        />
      )}
    </>
  );
}
