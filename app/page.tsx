import { Button } from '@mantine/core';
import Link from 'next/link';
import { MessagePage } from './_components/message-page';

export default function Home() {
  return (
    <MessagePage
      title="W5T Administration"
      text="Customers, services, invoices and payments, in step with the payment provider."
    >
      <Button component={Link} href="/admin">
        Open the administration
      </Button>
      <Button component={Link} href="/docs/api" variant="default">
        API reference
      </Button>
    </MessagePage>
  );
}
