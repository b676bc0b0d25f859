'use client';

import { Button, type ButtonProps } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import dynamic from 'next/dynamic';
import { type ReactNode, useState } from 'react';
import type { Question } from './confirm-dialog';

interface ConfirmButtonProps extends ButtonProps, Question {
  children: ReactNode;
}

/** Most who see the button never press it. */
const ConfirmDialog = dynamic(() => import('./confirm-dialog').then((part) => part.ConfirmDialog));

/** A button that asks first. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const { action, question, confirm, decline, consequences, children, ...button } = props;
  const [opened, { open, close }] = useDisclosure();
  const [asked, setAsked] = useState(false);
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
      {asked && (
        <ConfirmDialog
          {...{ action, question, confirm, consequences, opened, close }}
          {...(decline && { decline })}
          {...(button.color && { color: button.color })}
        />
      )}
    </>
  );
}
