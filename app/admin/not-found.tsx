import { Button } from '@mantine/core';
import Link from 'next/link';
import { MessagePage } from '../_components/message-page';

export default function NotFound() {
  return (
    <MessagePage title="Not found" text="There is no such record, or no such page.">
      <Button component={Link} href="/admin" variant="default">
        Go to the overview
      </Button>
    </MessagePage>
  );
}
