import { Text } from '@mantine/core';
import { listPaymentsForStaff } from '@/lib/payments/list-for-staff';
import { staffFilters } from '@/lib/payments/staff-filters';
import { getRuntime } from '@/lib/runtime';
import { TextLink } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { PaymentList } from '../../_components/payment-list';
import { Section } from '../../_components/section';

/** The latest payments of an invoice. */
export async function InvoicePayments({ invoiceId }: { invoiceId: number }) {
  const { db } = await getRuntime();
  const filter = { invoice: `#${invoiceId}` };
  const page = await listPaymentsForStaff(db, staffFilters.parse(filter), {});
  const all = <TextLink href={toHref('/admin/payments', filter)}>All payments</TextLink>;
  return (
    <Section title="Payments" action={page.next && all}>
      {page.data.length > 0 ? (
        <PaymentList payments={page.data} />
      ) : (
        <Text size="sm" c="dimmed" p="md">
          None yet.
        </Text>
      )}
    </Section>
  );
}
