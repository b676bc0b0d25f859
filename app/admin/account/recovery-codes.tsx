'use client';

import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef } from 'react';

interface Props {
  title: string;
  codes: string[];
  /** The way on. */
  children: ReactNode;
}

/** Shown once. They take the focus, since the form that made them is gone. */
export function RecoveryCodes({ title, codes, children }: Props) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => ref.current?.focus(), []);
  return (
    <Stack gap="md">
      <Alert ref={ref} tabIndex={-1} role="status" color="green" variant="light">
        {title}
      </Alert>
      <Text size="sm">
        Keep these recovery codes in a safe place. Each of them works once, in place of a code from the app.
        They are not shown again.
      </Text>
      <Code block tabIndex={0} aria-label="recovery codes">
        {codes.join('\n')}
      </Code>
      <Group gap="xs">
        <CopyButton value={codes.join('\n')} timeout={2000}>
          {({ copied, copy }) => (
            <Button
              variant="default"
              onClick={copy}
              leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
            >
              {copied ? 'Copied' : 'Copy recovery codes'}
            </Button>
          )}
        </CopyButton>
        {children}
      </Group>
    </Stack>
  );
}
