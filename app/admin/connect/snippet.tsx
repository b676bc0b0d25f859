'use client';

import { Box, Button, Code, CopyButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';

/** Text to paste elsewhere, with a button that copies it. */
export function Snippet({ client, text }: { client: string; text: string }) {
  return (
    <Box p="md">
      <Code block tabIndex={0}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Button
            mt="sm"
            size="xs"
            variant="default"
            onClick={copy}
            aria-label={`Copy the snippet for ${client}`}
            leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
          >
            {copied ? 'Copied' : 'Copy'}
          </Button>
        )}
      </CopyButton>
    </Box>
  );
}
