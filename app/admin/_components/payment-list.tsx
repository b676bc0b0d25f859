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
import Link from 'next/link';
import type { NamedPayment } from '@/lib/payments/payment-context';
import { formatDate, formatMoney } from '../../_components/format';
import classes from './list.module.css';
import { StatusBadge } from './status-badge';

/** Payments as a table, on a narrow screen as a list. */
export function PaymentList({ payments }: { payments: NamedPayment[] }) {
  return (
    <>
      <Box visibleFrom="sm">
        <WideList payments={payments} />
      </Box>
      <Box hiddenFrom="sm">
        {payments.map((payment) => (
          <NarrowEntry key={payment.id} payment={payment} />
        ))}
      </Box>
    </>
  );
}

function WideList({ payments }: { payments: NamedPayment[] }) {
  return (
    <Table className={classes.table ?? ''} layout="fixed" highlightOnHover>
      <TableThead>
        <TableTr>
          <TableTh w="13%">Date</TableTh>
          <TableTh>Customer</TableTh>
          <TableTh w="25%">Reference</TableTh>
          <TableTh w="14%">Invoice</TableTh>
          <TableTh w="12%">Status</TableTh>
          <TableTh w="14%" ta="right">
            Amount
          </TableTh>
        </TableTr>
      </TableThead>
      <TableTbody>
        {payments.map((payment) => (
          <TableTr key={payment.id} className={classes.row ?? ''}>
            <TableTd className="figures">
              <Link href={`/admin/payments/${payment.id}`} className={classes.cover}>
                {formatDate(payment.payment_date)}
              </Link>
            </TableTd>
            <TableTd className="one-line">{customerOf(payment)}</TableTd>
            <TableTd className="one-line" title={payment.payment_reference}>
              {payment.payment_reference}
            </TableTd>
            <TableTd className="one-line">{payment.invoice_number ?? `#${payment.invoice_id}`}</TableTd>
            <TableTd>
              <StatusBadge status={payment.status} />
            </TableTd>
            <TableTd ta="right" fw={500} className="figures">
              {formatMoney(payment.amount, payment.currency)}
            </TableTd>
          </TableTr>
        ))}
      </TableTbody>
    </Table>
  );
}

function NarrowEntry({ payment }: { payment: NamedPayment }) {
  return (
    <Link href={`/admin/payments/${payment.id}`} className={classes.entry}>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Stack gap={2} miw={0}>
          <Text size="sm" fw={500} truncate>
            {customerOf(payment)}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {formatDate(payment.payment_date)} · {payment.payment_reference}
          </Text>
        </Stack>
        <Stack gap={4} align="flex-end" flex="none">
          <Text size="sm" fw={500} className="figures">
            {formatMoney(payment.amount, payment.currency)}
          </Text>
          <StatusBadge status={payment.status} />
        </Stack>
      </Group>
    </Link>
  );
}

function customerOf({ customer, customer_id }: NamedPayment): string {
  return customer?.name || customer?.customer_number || `#${customer_id}`;
}
