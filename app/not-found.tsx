import { Button } from '@mantine/core';
import type { Metadata } from 'next';
import Link from 'next/link';
import { MessagePage } from './_components/message-page';

export const metadata: Metadata = { title: 'Not found' };

export default function NotFound() {
  return (
    <MessagePage title="Page not found" text="There is nothing at this address.">
      <Button component={Link} href="/" variant="default">
        Go to the start
      </Button>
    </MessagePage>
  );
}
