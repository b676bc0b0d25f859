import {
  Box,
  Group,
  Stack,
  Table,
  TableTbody,
  TableTd,
  TableTh,
  TableThead,
  TableTr,
  Text,
} from '@mantine/core';
import type { SubscriptionInvoice } from '@/lib/subscriptions/list-related';
import { formatDate, formatMoney } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { withParams } from '../../../_components/search-params';
import classes from '../../_components/list.module.css';
import { StatusBadge } from '../../_components/status-badge';

/** The invoices of a subscription, each with the ways to its payments and events. */
export function InvoiceList({ invoices }: { invoices: SubscriptionInvoice[] }) {
  return (
    <>
      <Box visibleFrom="sm">
        <WideList invoices={invoices} />
      </Box>
      <Box hiddenFrom="sm">
        {invoices.map((invoice) => (
          <NarrowEntry key={invoice.id} invoice={invoice} />
        ))}
      </Box>
    </>
  );
}

function WideList({ invoices }: { invoices: SubscriptionInvoice[] }) {
  return (
    <Table className={classes.table ?? ''} layout="fixed">
      <TableThead>
        <TableTr>
          <TableTh>Number</TableTh>
          <TableTh w="20%">Date</TableTh>
          <TableTh w="15%">Status</TableTh>
          <TableTh w="20%">See</TableTh>
          <TableTh w="16%" ta="right">
            Total
          </TableTh>
        </TableTr>
      </TableThead>
      <TableTbody>
        {invoices.map((invoice) => (
          <TableTr key={invoice.id}>
            <TableTd fw={500} className="one-line">
              {nameOf(invoice)}
            </TableTd>
            <TableTd className="figures">{formatDate(invoice.invoice_date)}</TableTd>
            <TableTd>
              <StatusBadge status={invoice.status} />
            </TableTd>
            <TableTd>
              <Ways invoice={invoice} />
            </TableTd>
            <TableTd ta="right" fw={500} className="figures">
              {formatMoney(invoice.total, invoice.currency)}
            </TableTd>
          </TableTr>
        ))}
      </TableTbody>
    </Table>
  );
}

function NarrowEntry({ invoice }: { invoice: SubscriptionInvoice }) {
  return (
    <Group justify="space-between" wrap="nowrap" gap="sm" className={classes.entry ?? ''} display="flex">
      <Stack gap={2} miw={0}>
        <Text size="sm" fw={500} className="break-anywhere">
          {nameOf(invoice)}
        </Text>
        <Text size="xs" c="dimmed">
          {formatDate(invoice.invoice_date)}
        </Text>
        <Ways invoice={invoice} />
      </Stack>
      <Stack gap={4} align="flex-end" flex="none">
        <Text size="sm" fw={500} className="figures">
          {formatMoney(invoice.total, invoice.currency)}
        </Text>
        <StatusBadge status={invoice.status} />
      </Stack>
    </Group>
  );
}

function Ways({ invoice }: { invoice: SubscriptionInvoice }) {
  return (
    <Group gap="md">
      <TextLink href={listOf('/admin/payments', { invoice: `#${invoice.id}` })}>Payments</TextLink>
      {invoice.stripe_invoice_id && (
        <TextLink href={listOf('/admin/webhooks', { id: invoice.stripe_invoice_id })}>Events</TextLink>
      )}
    </Group>
  );
}

function listOf(path: string, filter: Record<string, string>): string {
  return withParams(path, new URLSearchParams(), filter);
}

function nameOf({ number, id }: SubscriptionInvoice): string {
  return number ?? `#${id}`;
}
