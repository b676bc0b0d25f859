import { Stack, Text } from '@mantine/core';
import type { Balance as CustomerBalance } from '@/lib/invoices/customer-balances';
import type { UnpaidInvoices } from '@/lib/invoices/schema';
import { MAX_RECORDS } from '@/lib/overview/counts';
import type { Uncounted } from '@/lib/payments/stripe-payment';
import { formatCount, formatMoney, formatNumber } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { Section } from '../../_components/page/section';

interface Props {
  unpaid: UnpaidInvoices;
  /** How many of the unpaid invoices are, counted to `MAX_RECORDS`. */
  overdue: number;
  balances: CustomerBalance[];
  /** What was paid too much, by currency. */
  credits: { currency: string; amount: number }[];
  /** What is recorded here of invoices that Stripe manages, and Stripe does not count. */
  uncounted: Uncounted[];
}

/** What a customer has still to pay, and what it has paid too much. */
export function Balance({ unpaid, overdue, balances, credits, uncounted }: Props) {
  const total = [unpaid, ...unpaid.other_currencies].reduce((sum, { count }) => sum + count, 0);
  const overdueSums = balances.filter((one) => one.overdue > 0);
  return (
    <Section title="Balance due">
      <Stack gap={2} p="md">
        <Text fw={600} fz="xl" className="figures">
          {formatMoney(unpaid.total, unpaid.currency)}
        </Text>
        {unpaid.other_currencies.map(({ currency, total: sum }) => (
          <Text key={currency} fw={500} className="figures">
            {formatMoney(sum, currency)}
          </Text>
        ))}
        <Text size="sm" c="dimmed">
          {total === 0 ? 'No unpaid invoices.' : formatCount(total, 'unpaid invoice')}
          {overdue > 0 && (
            <Text span inherit c="var(--mantine-color-orange-light-color)" fw={500}>
              {` · ${overdue > MAX_RECORDS ? `more than ${formatNumber(MAX_RECORDS)}` : overdue} overdue`}
            </Text>
          )}
        </Text>
        {overdueSums.length > 0 && (
          <Text size="sm" c="var(--mantine-color-orange-light-color)" className="figures">
            Overdue: {overdueSums.map((one) => formatMoney(one.overdue, one.currency)).join(' and ')}
          </Text>
        )}
        {credits.map(({ currency, amount }) => (
          <Text key={currency} size="sm" className="figures">
            {`${formatMoney(amount, currency)} credit from overpayment`}
          </Text>
        ))}
        {uncounted.map(({ id, number, currency, amount }) => (
          <Text key={id} size="sm" c="var(--mantine-color-orange-light-color)" className="figures">
            {`${formatMoney(amount, currency)} is recorded here and does not count at Stripe: `}
            <TextLink href={`/admin/invoices/${id}`}>{`invoice ${number ?? `#${id}`}`}</TextLink>
          </Text>
        ))}
      </Stack>
    </Section>
  );
}
