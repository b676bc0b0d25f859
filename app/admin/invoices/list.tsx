import { pastPresets } from '@/lib/dates';
import { INVOICE_STATES, invoiceList } from '@/lib/invoices/list';
import { choiceOf, customerField, declareList } from '../_components/lists/list-declaration';
import { InvoiceList } from '../_components/records/invoice-list';

export const INVOICES = declareList({
  title: 'Invoices',
  path: '/admin/invoices',
  noun: 'invoice',
  yet: 'They appear here as soon as one is created.',
  source: invoiceList,
  fields: (today) => [
    customerField,
    { name: 'number', label: 'Number', placeholder: 'Full number or #ID' },
    { name: 'status', label: 'Status', options: choiceOf(INVOICE_STATES) },
    { name: 'from', label: 'Date', presets: pastPresets(today) },
  ],
  Rows: InvoiceList,
});
