import type { PaymentRow } from '@/lib/payments/schema';

/** Who or what recorded a payment. */
export const PAYMENT_SOURCES: Record<PaymentRow['source'], string> = {
  api: 'Payments API',
  staff: 'Staff',
  stripe: 'Stripe',
  import: 'Import',
};
