import { pastPresets } from '@/lib/dates';
import { DOCUMENT_STATUSES, DOCUMENT_TYPES, salesDocumentList } from '@/lib/sales-documents/queries';
import { choiceOf, customerField, declareList } from '../_components/lists/list-declaration';
import { DocumentList } from '../_components/records/document-list';

export const SALES_DOCUMENTS = declareList({
  title: 'Sales documents',
  description: 'Offers and order confirmations.',
  path: '/admin/sales-documents',
  noun: 'sales document',
  yet: 'They appear here as soon as one is created.',
  source: salesDocumentList,
  fields: (today) => [
    customerField,
    { name: 'number', label: 'Number', placeholder: 'Full number or #ID' },
    { name: 'type', label: 'Type', options: choiceOf(DOCUMENT_TYPES) },
    { name: 'status', label: 'Status', options: choiceOf(DOCUMENT_STATUSES) },
    { name: 'from', label: 'Date', presets: pastPresets(today) },
  ],
  Rows: DocumentList,
});
