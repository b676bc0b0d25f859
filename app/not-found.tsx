import type { Metadata } from 'next';
import { LinkButton } from './_components/links';
import { MessagePage } from './_components/message-page';

export const metadata: Metadata = { title: 'Not found' };

export default function NotFound() {
  return (
    <MessagePage title="Page not found" text="There is no page at this address.">
      <LinkButton href="/" variant="default">
        Go to the start page
      </LinkButton>
    </MessagePage>
  );
}
