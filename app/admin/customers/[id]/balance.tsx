import { Stack, Text } from '@mantine/core';
import type { UnpaidInvoices } from '@/lib/invoices/schema';
import { MAX_RECORDS } from '@/lib/overview/count-records';
import { formatCount, formatMoney, formatNumber } from '../../../_components/format';
import { Section } from '../../_components/section';

interface Props {
  unpaid: UnpaidInvoices;
  /** How many of the unpaid invoices are, counted to `MAX_RECORDS`. */
  overdue: number;
}

/** What a customer has still to pay. */
export function Balance({ unpaid, overdue }: Props) {
  const total = [unpaid, ...unpaid.other_currencies].reduce((sum, { count }) => sum + count, 0);
  return (
    <Section title="To pay">
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
          {total === 0 ? 'No invoice is unpaid.' : formatCount(total, 'unpaid invoice')}
          {overdue > 0 && (
            <Text span inherit c="var(--mantine-color-orange-light-color)" fw={500}>
              {` · ${overdue > MAX_RECORDS ? `more than ${formatNumber(MAX_RECORDS)}` : overdue} overdue`}
            </Text>
          )}
        </Text>
      </Stack>
    </Section>
  );
}
