import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';

/** A download link. Not a router link, because the router would treat the file as a page and prefetch it. */
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
