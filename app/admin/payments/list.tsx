import { pastPresets } from '@/lib/dates';
import {
  hasReferenceOrder,
  listPaymentsForStaff,
  type NamedPayment,
  PAYMENT_STATES,
  paymentsCsv,
  staffFilters,
} from '@/lib/payments/list-for-staff';
import { choiceOf, customerField, type ListDeclaration } from '../_components/lists/list-declaration';
import { PaymentList } from '../_components/records/payment-list';

export const PAYMENTS = {
  title: 'Payments',
  path: '/admin/payments',
  noun: 'payment',
  yet: 'They appear here as soon as one is recorded.',
  schema: staffFilters,
  fields: ({ today }) => [
    customerField,
    { name: 'invoice', label: 'Invoice', placeholder: 'Number or #ID' },
    { name: 'reference', label: 'Reference', placeholder: 'Any part' },
    { name: 'status', label: 'Status', options: choiceOf(PAYMENT_STATES) },
    { name: 'from', label: 'Date', presets: pastPresets(today) },
  ],
  read: ({ db }, filters, { start }) => listPaymentsForStaff(db, filters, start),
  lacks: (filters) => (hasReferenceOrder(filters) ? undefined : 'reference'),
  Rows: ({ rows, sorting }) => <PaymentList payments={rows} sorting={sorting} />,
  csv: ({ db }, filters) => paymentsCsv(db, filters),
} satisfies ListDeclaration<typeof staffFilters, NamedPayment>;
