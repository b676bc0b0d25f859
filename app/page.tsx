import { Button } from '@mantine/core';
import { LinkButton } from './_components/links';
import { MessagePage } from './_components/message-page';

export default function Home() {
  return (
    <MessagePage
      title="W5T Administration"
      text="Customers, services, invoices and payments, kept in sync with the payment provider."
    >
      <LinkButton href="/admin">Open the administration</LinkButton>
      {/* A plain link, because the API reference needs a full page load to get its own CSP. */}
      <Button component="a" href="/docs/api" variant="default">
        API reference
      </Button>
    </MessagePage>
  );
}
