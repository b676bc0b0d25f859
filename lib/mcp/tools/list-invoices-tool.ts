import { listInvoices } from '@/lib/invoices/queries';
import { invoiceFilters, invoicePage } from '@/lib/invoices/schema';
import { defineTool } from '../define-tool';

export const listInvoicesTool = defineTool({
  name: 'list-invoices-tool',
  title: 'List invoices',
  description:
    'Lists invoices, newest invoice_date first, each with its customer. Unpaid invoices have status sent or overdue: ask for each. One page at a time: while page is below last_page, ask again with page + 1.',
  input: invoiceFilters,
  output: invoicePage,
  run: listInvoices,
});
