'use client';

import { Alert, type AlertProps } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';

interface Props extends Pick<AlertProps, 'mb'> {
  tone: 'done' | 'refused';
  children: ReactNode;
}

/** Shows the outcome of an action. The notice receives focus, because the button that was pressed may be gone. */
export function Notice({ tone, mb = 'lg', children }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => ref.current?.focus(), []);
  return (
    <Alert
      ref={ref}
      tabIndex={-1}
      role={tone === 'done' ? 'status' : 'alert'}
      color={tone === 'done' ? 'green' : 'orange'}
      variant="light"
      mb={mb}
    >
      {children}
    </Alert>
  );
}
