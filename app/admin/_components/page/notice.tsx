'use client';

import { Alert } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';

interface Props {
  tone: 'done' | 'refused';
  children: ReactNode;
}

/** Shows the outcome of an action. It takes the focus, since the pressed button may be gone. */
export function Notice({ tone, children }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => ref.current?.focus(), []);
  return (
    <Alert
      ref={ref}
      tabIndex={-1}
      role={tone === 'done' ? 'status' : 'alert'}
      color={tone === 'done' ? 'green' : 'orange'}
      variant="light"
      mb="lg"
    >
      {children}
    </Alert>
  );
}
