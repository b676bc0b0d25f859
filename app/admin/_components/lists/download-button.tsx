import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';

/** A plain link: the router would take the file for a page, and fetch it in advance. */
export function DownloadButton({ href, children = 'Download CSV' }: { href: string; children?: string }) {
  return (
    <Button
      component="a"
      href={href}
      variant="default"
      size="sm"
      leftSection={<IconDownload size={16} stroke={1.8} aria-hidden />}
    >
      {children}
    </Button>
  );
}
