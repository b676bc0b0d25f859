import { pastPresets } from '@/lib/dates';
import {
  INVOICE_STATES,
  invoiceStaffFilters,
  invoicesCsv,
  type ListedInvoice,
  listInvoicesForStaff,
} from '@/lib/invoices/list-for-staff';
import { choiceOf, customerField, type ListDeclaration } from '../_components/lists/list-declaration';
import { InvoiceList } from '../_components/records/invoice-list';

export const INVOICES = {
  title: 'Invoices',
  path: '/admin/invoices',
  noun: 'invoice',
  yet: 'They appear here as soon as one is created.',
  schema: invoiceStaffFilters,
  fields: ({ today }) => [
    customerField,
    { name: 'number', label: 'Number', placeholder: 'Full number or #ID' },
    { name: 'status', label: 'Status', options: choiceOf(INVOICE_STATES) },
    { name: 'from', label: 'Date', presets: pastPresets(today) },
  ],
  read: ({ db }, filters, place) => listInvoicesForStaff(db, filters, place),
  Rows: ({ rows, ...props }) => <InvoiceList invoices={rows} {...props} />,
  csv: ({ db }, filters) => invoicesCsv(db, filters),
} satisfies ListDeclaration<typeof invoiceStaffFilters, ListedInvoice>;
