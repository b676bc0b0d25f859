import { listSalesDocuments } from '@/lib/sales-documents/queries';
import { salesDocumentFilters, salesDocumentRow } from '@/lib/sales-documents/schema';
import { documentSums, summarizeSalesDocuments } from '@/lib/sales-documents/summarize-sales-documents';
import { defineListTool } from '../lists/define-list-tool';

export const listSalesDocumentsTool = defineListTool({
  name: 'list-sales-documents-tool',
  title: 'List sales documents',
  scope: 'billing:read',
  description:
    'Lists offers and order confirmations, newest document_date first, each with its customer; converted_to_invoice_id is the invoice that it became. For totals ask with summary true. While has_more, ask for page next_page.',
  filters: salesDocumentFilters,
  row: salesDocumentRow,
  list: listSalesDocuments,
  summarize: summarizeSalesDocuments,
  summaryRow: documentSums,
});
