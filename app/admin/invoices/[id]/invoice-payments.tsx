import { Stack, Text } from '@mantine/core';
import { listDeletedPayments } from '@/lib/payments/list-deleted';
import { listPaymentsForStaff } from '@/lib/payments/list-for-staff';
import { listMoneyBack, ofInvoice } from '@/lib/payments/money-back-rows';
import { staffFilters } from '@/lib/payments/staff-filters';
import { getRuntime } from '@/lib/runtime';
import { TextLink } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { Section } from '../../_components/page/section';
import { MoneyBackSection } from '../../_components/records/money-back/money-back-section';
import { PaymentList } from '../../_components/records/payment-list';
import { DeletedPayments } from './deleted-payments';

const MAX_ROWS = 100;

interface Props {
  invoiceId: number;
  customerId: number;
}

/** The latest payments of an invoice, and what came back of them. */
export async function InvoicePayments({ invoiceId, customerId }: Props) {
  const { db, env } = await getRuntime();
  const filter = { invoice: `#${invoiceId}` };
  const page = await listPaymentsForStaff(db, staffFilters.parse(filter), {});
  const moneyBack = await listMoneyBack(db, ofInvoice(invoiceId), MAX_ROWS);
  const deleted = await listDeletedPayments(db, { id: invoiceId, customer_id: customerId });
  const all = <TextLink href={toHref('/admin/payments', filter)}>All payments</TextLink>;
  return (
    <Stack gap="xl">
      <Section title="Payments" action={page.next && all}>
        {page.data.length > 0 ? (
          <PaymentList payments={page.data} />
        ) : (
          <Text size="sm" c="dimmed" p="md">
            {deleted.length > 0 ? 'None left.' : 'None yet.'}
          </Text>
        )}
        <DeletedPayments deleted={deleted} timeZone={env.timeZone} />
      </Section>
      <MoneyBackSection rows={moneyBack} timeZone={env.timeZone} namesPayments />
    </Stack>
  );
}
