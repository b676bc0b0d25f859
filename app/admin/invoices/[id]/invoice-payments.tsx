import { Stack, Text } from '@mantine/core';
import type { WithMoneyBack } from '@/lib/invoices/money-back';
import type { InvoiceDetails } from '@/lib/invoices/queries';
import { besidePayments } from '@/lib/invoices/queries';
import { listPaymentsForStaff, staffFilters } from '@/lib/payments/list-for-staff';
import { listMoneyBack, ofInvoice } from '@/lib/payments/money-back';
import { listDeletedPayments } from '@/lib/payments/queries';
import { getRuntime } from '@/lib/runtime';
import { TextLink } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { Section } from '../../_components/page/section';
import { MoneyBackSection } from '../../_components/records/money-back/money-back-section';
import { PaymentList } from '../../_components/records/payment-list';
import { DeletedPayments } from './deleted-payments';
import { whyPaid } from './why-paid';

const MAX_ROWS = 100;

/** The latest payments of an invoice, and what came back of them. */
export async function InvoicePayments({ invoice }: { invoice: WithMoneyBack<InvoiceDetails> }) {
  const { db, env } = await getRuntime();
  const { id, customer } = invoice;
  const filter = { invoice: `#${id}` };
  const page = await listPaymentsForStaff(db, staffFilters.parse(filter), {});
  const moneyBack = await listMoneyBack(db, ofInvoice(id), MAX_ROWS);
  const deleted = await listDeletedPayments(db, { id, customer_id: customer.id });
  const none = deleted.length > 0 ? 'None left.' : 'None yet.';
  const all = <TextLink href={toHref('/admin/payments', filter)}>All payments</TextLink>;
  return (
    <Stack gap="xl">
      <Section title="Payments" action={page.next && all}>
        {page.data.length > 0 ? (
          <PaymentList payments={page.data} />
        ) : (
          <Text size="sm" c="dimmed" p="md">
            {whyPaid(invoice, besidePayments(invoice)) ?? none}
          </Text>
        )}
        <DeletedPayments deleted={deleted} timeZone={env.timeZone} />
      </Section>
      <MoneyBackSection rows={moneyBack} timeZone={env.timeZone} namesPayments />
    </Stack>
  );
}
