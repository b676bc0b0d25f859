'use client';

import { Button, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { useFormStatus } from 'react-dom';

/** Shows a submit button that is busy while the form's action runs. */
export function SubmitButton({ children, ...button }: ButtonProps & { children: ReactNode }) {
  const { pending } = useFormStatus();
  return (
    <Button type="submit" size="sm" loading={pending} {...button}>
      {children}
    </Button>
  );
}
