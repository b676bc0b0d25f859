'use client';

import { Alert, Button, Code, CopyButton, Group, Paper, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { LinkButton } from '../../../_components/links';

interface SecretProps {
  /** What it is and whose, as a sentence. */
  title: string;
  /** What the copy button copies, "the token". */
  name: string;
  text: string;
  /** What to do with it. */
  advice: ReactNode;
  /** Where the way on leads. */
  done: string;
}

/** What is shown once and kept nowhere. It takes the focus, since the form that made it is gone. */
export function Secret({ title, name, text, advice, done }: SecretProps) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => ref.current?.focus(), []);
  return (
    <Paper withBorder radius="lg" p="lg">
      <Stack gap="md">
        <Alert ref={ref} tabIndex={-1} role="status" color="green" variant="light">
          {title}
        </Alert>
        <Code
          block
          tabIndex={0}
          aria-label={name}
          className="break-anywhere"
          style={{ whiteSpace: 'pre-wrap' }}
        >
          {text}
        </Code>
        <Text size="sm">Copy it now: it is shown only once. {advice}</Text>
        <Group gap="xs">
          <CopyButton value={text} timeout={2000}>
            {({ copied, copy }) => (
              <Button
                onClick={copy}
                leftSection={
                  copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />
                }
              >
                {copied ? 'Copied' : `Copy ${name}`}
              </Button>
            )}
          </CopyButton>
          <LinkButton href={done} variant="default">
            Done
          </LinkButton>
        </Group>
      </Stack>
    </Paper>
  );
}
