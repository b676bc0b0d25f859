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
import { SortBar, SortHeader, type Sorting } from './sort-links';
import { StatusBadge } from './status-badge';

const DATE = { name: 'date', label: 'Date', descends: true };
const REFERENCE = { name: 'reference', label: 'Reference' };
const AMOUNT = { name: 'amount', label: 'Amount', descends: true };

interface Props {
  payments: NamedPayment[];
  /** Where the order can be chosen. */
  sorting?: Sorting;
}

/** Payments as a table, on a narrow screen as a list. */
export function PaymentList({ payments, sorting }: Props) {
  return (
    <>
      <Box visibleFrom="sm">
        <WideList payments={payments} {...(sorting && { sorting })} />
      </Box>
      <Box hiddenFrom="sm">
        {sorting && <SortBar sorting={sorting} columns={[DATE, AMOUNT, REFERENCE]} />}
        {payments.map((payment) => (
          <NarrowEntry key={payment.id} payment={payment} />
        ))}
      </Box>
    </>
  );
}

function WideList({ payments, sorting }: Props) {
  return (
    <Table className={classes.table ?? ''} layout="fixed" highlightOnHover>
      <TableThead>
        <TableTr>
          <SortHeader {...DATE} sorting={sorting} w="13%" />
          <TableTh>Customer</TableTh>
          <SortHeader {...REFERENCE} sorting={sorting} w="25%" />
          <TableTh w="14%">Invoice</TableTh>
          <TableTh w="12%">Status</TableTh>
          <SortHeader {...AMOUNT} sorting={sorting} w="14%" ta="right" />
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
