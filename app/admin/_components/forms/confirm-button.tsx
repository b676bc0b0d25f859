'use client';

import { Button, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import dynamic from 'next/dynamic';
import { useState } from 'react';
import type { Question } from './confirm-dialog';

interface ConfirmButtonProps extends ButtonProps, Omit<Question, 'confirm' | 'color'> {
  /** The label of the button that says yes; without one, that of the button itself. */
  confirm?: string;
  children: string;
}

/** Most who see the button never press it. */
const ConfirmDialog = dynamic(() => import('./confirm-dialog').then((part) => part.ConfirmDialog));

/** A button that asks first. */
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
