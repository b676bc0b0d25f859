import { Box, Text } from '@mantine/core';
import type { DeletedPayment } from '@/lib/payments/queries';
import { formatMoney } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { Instant } from '../../_components/display/instant';

/** Says that the invoice had payments that were deleted. */
export function DeletedPayments({ deleted, timeZone }: { deleted: DeletedPayment[]; timeZone: string }) {
  if (deleted.length === 0) return null;
  return (
    <Box p="md">
      {deleted.map(({ payment, deleted_by, deleted_at }) => (
        <Text key={payment.id} size="sm" c="dimmed" className="break-anywhere">
          <TextLink href={`/admin/payments/${payment.id}`}>
            {formatMoney(payment.amount, payment.currency)}, {payment.payment_reference}
          </TextLink>{' '}
          was deleted by {deleted_by} on <Instant at={deleted_at} timeZone={timeZone} />.
        </Text>
      ))}
    </Box>
  );
}
