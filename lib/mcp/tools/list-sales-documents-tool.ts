import { listSalesDocuments } from '@/lib/sales-documents/queries';
import { salesDocumentFilters, salesDocumentPage } from '@/lib/sales-documents/schema';
import { defineTool } from '../define-tool';

export const listSalesDocumentsTool = defineTool({
  name: 'list-sales-documents-tool',
  title: 'List sales documents',
  description:
    'Lists offers and order confirmations, newest document_date first, each with its customer; converted_to_invoice_id is the id of the invoice that a document became. One page at a time: while page is below last_page, ask again with page + 1.',
  input: salesDocumentFilters,
  output: salesDocumentPage,
  run: listSalesDocuments,
});
