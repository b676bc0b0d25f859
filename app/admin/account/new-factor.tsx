'use client';

import { Alert, Button, Code, CopyButton, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef, useState, useTransition } from 'react';
import type { BegunTwoFactor } from './actions';

interface PictureProps {
  begun: BegunTwoFactor;
  confirm(code: string): Promise<{ problem: string | null }>;
  onDone(): void;
}

/** What the app scans, and the field for the code that it shows then. */
export function AppPicture({ begun: { picture, key }, confirm, onDone }: PictureProps) {
  const [problem, setProblem] = useState<string | null>(null);
  const [isPending, start] = useTransition();
  const send = (form: FormData) =>
    start(async () => {
      const answer = await confirm(String(form.get('code') ?? ''));
      if (answer.problem === null) onDone();
      else setProblem(answer.problem);
    });
  return (
    <form
      aria-label="Confirm the authenticator app"
      onSubmit={(event) => {
        event.preventDefault();
        send(new FormData(event.currentTarget));
      }}
    >
      <Stack gap="md" maw={400}>
        <Text size="sm">Scan this with your authenticator app.</Text>
        <svg
          viewBox={`0 0 ${picture.size} ${picture.size}`}
          width={200}
          height={200}
          role="img"
          aria-label="QR code for the authenticator app"
          shapeRendering="crispEdges"
        >
          <rect width={picture.size} height={picture.size} fill="#fff" />
          <path d={picture.path} fill="#000" />
        </svg>
        <Text size="sm">
          Or enter this key: <Code className="break-anywhere">{key}</Code>
        </Text>
        <TextInput
          label="Code from the app"
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={10}
          required
          withAsterisk={false}
          autoFocus
          error={problem}
        />
        <Button type="submit" loading={isPending} w="fit-content">
          Turn on
        </Button>
      </Stack>
    </form>
  );
}

interface CodesProps {
  title: string;
  codes: string[];
  /** The way on. */
  children: ReactNode;
}

/** Shown once. They take the focus, since the form that made them is gone. */
export function RecoveryCodes({ title, codes, children }: CodesProps) {
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
