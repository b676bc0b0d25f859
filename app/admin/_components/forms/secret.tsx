'use client';

import { Button, type ButtonProps, Code, CopyButton as Copy, Group, Paper, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { LinkButton, TextLink } from '@/app/_components/links';
import { Notice } from '../page/notice';

export interface SecretProps {
  /** Sentence that says what the secret is and who it belongs to. */
  title: string;
  /** Word for the secret on the copy button, such as "token". */
  name: string;
  text: string;
  /** Sentence that says what to do with the secret. */
  advice: string;
  /** Link to a page with further information. */
  more?: { href: string; text: string };
  /** Path of the page that the "done" link opens. */
  done: string;
}

/** Shows a new secret in place of the form that created it. No other page can show the secret again. */
export function Secret({ title, name, text, advice, more, done }: SecretProps) {
  return (
    <Paper withBorder radius="lg" p="lg">
      <Stack gap="md">
        <Notice tone="done" mb={0}>
          {title}
        </Notice>
        <Code
          block
          tabIndex={0}
          aria-label={name}
          className="break-anywhere"
          style={{ whiteSpace: 'pre-wrap' }}
        >
          {text}
        </Code>
        <Text size="sm">
          Copy it now: it is shown only once. {advice}
          {more && (
            <>
              {' '}
              <TextLink href={more.href}>{more.text}</TextLink>.
            </>
          )}
        </Text>
        <Group gap="xs">
          <CopyTextButton text={text}>{`Copy ${name}`}</CopyTextButton>
          <LinkButton href={done} variant="default">
            Done
          </LinkButton>
        </Group>
      </Stack>
    </Paper>
  );
}

interface CodesProps {
  title: string;
  codes: string[];
  /** Button or link with which the person continues after saving the codes. */
  children: ReactNode;
}

/** Shows new recovery codes, which the person cannot see again later. */
export function RecoveryCodes({ title, codes, children }: CodesProps) {
  const text = codes.join('\n');
  return (
    <Stack gap="md">
      <Notice tone="done" mb={0}>
        {title}
      </Notice>
      <Text size="sm">
        Keep these recovery codes in a safe place. Each of them works once, in place of a code from the app.
        They are not shown again.
      </Text>
      <Code block tabIndex={0} aria-label="recovery codes">
        {text}
      </Code>
      <Group gap="xs">
        <CopyTextButton text={text} variant="default">
          Copy recovery codes
        </CopyTextButton>
        {children}
      </Group>
    </Stack>
  );
}

interface CopyTextButtonProps extends ButtonProps {
  text: string;
  children: string;
  'aria-label'?: string;
}

export function CopyTextButton({ text, children, ...button }: CopyTextButtonProps) {
  return (
    <Copy value={text} timeout={2000}>
      {({ copied, copy }) => (
        <Button
          onClick={copy}
          leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
          {...button}
        >
          {copied ? 'Copied' : children}
        </Button>
      )}
    </Copy>
  );
}
