import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import type { ReactNode } from 'react';

interface Props {
  /** What the form is called, for readers. */
  label: string;
  path: string;
  field: { name: string; label: string; options: { value: string; label: string }[] };
  children?: ReactNode;
}

/** Asks what to download: a plain form, since the router would take the file for a page. */
export function ExportForm({ label, path, field: { options, ...field }, children }: Props) {
  return (
    <form action={path} method="get" aria-label={label}>
      <Stack gap="sm" p="md">
        {children}
        <Group gap="sm" align="flex-end">
          <NativeSelect {...field} size="sm" data={options} />
          <Button
            type="submit"
            size="sm"
            variant="default"
            leftSection={<IconDownload size={16} stroke={1.8} aria-hidden />}
          >
            Download CSV
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
