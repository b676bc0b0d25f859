import { listInvoices } from '@/lib/invoices/queries';
import { invoiceFilters, invoiceRow } from '@/lib/invoices/schema';
import { invoiceSums, summarizeInvoices } from '@/lib/invoices/summarize-invoices';
import { defineListTool } from '../lists/define-list-tool';

export const listInvoicesTool = defineListTool({
  name: 'list-invoices-tool',
  title: 'List invoices',
  scope: 'billing:read',
  description:
    'Lists invoices, newest invoice_date first, each with its customer. Unpaid: status sent or overdue, ask for each. For totals ask with summary true. While has_more, ask for page next_page.',
  filters: invoiceFilters,
  row: invoiceRow,
  list: listInvoices,
  summarize: summarizeInvoices,
  summaryRow: invoiceSums,
});
