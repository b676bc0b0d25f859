import { pastPresets } from '@/lib/dates';
import { PAYMENT_STATES, paymentList } from '@/lib/payments/list';
import { choiceOf, customerField, declareList } from '../_components/lists/list-declaration';
import { PaymentList } from '../_components/records/payment-list';

export const PAYMENTS = declareList({
  title: 'Payments',
  path: '/admin/payments',
  noun: 'payment',
  yet: 'They appear here as soon as one is recorded.',
  source: paymentList,
  fields: (today) => [
    customerField,
    { name: 'invoice', label: 'Invoice', placeholder: 'Number or #ID' },
    { name: 'reference', label: 'Reference', placeholder: 'Any part' },
    { name: 'status', label: 'Status', options: choiceOf(PAYMENT_STATES) },
    { name: 'from', label: 'Date', presets: pastPresets(today) },
  ],
  Rows: PaymentList,
});
