import { Alert, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { InvoiceDetails } from '@/lib/invoices/get-invoice';
import { Instant } from '../../_components/instant';

interface Props {
  invoice: InvoiceDetails;
  timeZone: string;
}

/** What is unusual about an invoice. */
export function InvoiceNotices({ invoice, timeZone }: Props) {
  const notices = noticesOf(invoice, timeZone);
  if (notices.length === 0) return null;
  return (
    <Stack gap="sm" mb="lg">
      {notices.map(([title, text]) => (
        <Alert key={title} color="orange" variant="light" title={title}>
          {text}
        </Alert>
      ))}
    </Stack>
  );
}

function noticesOf(invoice: InvoiceDetails, timeZone: string): [title: string, text: ReactNode][] {
  const { payment_failed_at: failed, provider_gone_at: gone, uncollectible, status } = invoice;
  const on = (at: Date) => <Instant at={at} timeZone={timeZone} />;
  const notices: [string, ReactNode][] = [];
  if (failed && status !== 'paid') {
    notices.push(['A payment failed', <>Stripe could not collect it on {on(failed)}.</>]);
  }
  if (uncollectible) {
    notices.push(['Uncollectible', 'Stripe has given up collecting it. It can still be paid.']);
  }
  if (gone) notices.push(['Gone at Stripe', <>On {on(gone)} Stripe had no such invoice any more.</>]);
  return notices;
}
