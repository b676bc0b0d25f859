'use client';

import { ActionIcon, CopyButton as Copy } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';

/** Shows a button that copies a text to the clipboard. @param name name of the text, such as "reference" */
export function CopyButton({ value, name }: { value: string; name: string }) {
  return (
    <Copy value={value} timeout={2000}>
      {({ copied, copy }) => (
        <ActionIcon
          variant="subtle"
          color="gray"
          size={24}
          onClick={copy}
          aria-label={copied ? 'Copied' : `Copy ${name}`}
        >
          {copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
        </ActionIcon>
      )}
    </Copy>
  );
}
