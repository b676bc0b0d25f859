import { Alert, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import type { InvoiceDetails } from '@/lib/invoices/queries';
import { formatMoney } from '../../../_components/format';
import { Instant } from '../../_components/display/instant';
import { overdueReason } from './overdue-reason';

interface Props {
  invoice: InvoiceDetails;
  timeZone: string;
  /** How much of what is recorded here Stripe does not count. */
  uncounted: number;
}

/** What is unusual about an invoice. */
export function InvoiceNotices({ invoice, timeZone, uncounted }: Props) {
  const notices = noticesOf(invoice, timeZone, uncounted);
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

function noticesOf(
  invoice: InvoiceDetails,
  timeZone: string,
  uncounted: number,
): [title: string, text: ReactNode][] {
  const { provider_gone_at: gone } = invoice;
  const reason = overdueReason(invoice, timeZone);
  const on = (at: Date) => <Instant at={at} timeZone={timeZone} />;
  const notices: [string, ReactNode][] = [];
  if (reason) notices.push(['Overdue', reason]);
  if (uncounted > 0) {
    const amount = formatMoney(uncounted, invoice.currency);
    notices.push([
      'A recorded payment does not count',
      `${amount} is recorded here, but Stripe manages this invoice and does not count it. Mark the invoice as paid in Stripe, or delete the payment.`,
    ]);
  }
  if (gone) notices.push(['Not found at Stripe', <>On {on(gone)} Stripe no longer had this invoice.</>]);
  return notices;
}
