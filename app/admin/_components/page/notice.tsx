'use client';

import { Alert } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';

interface Props {
  tone: 'done' | 'refused';
  children: ReactNode;
}

/** What came of an action: it takes the focus, since the button that was pressed may be gone. */
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
