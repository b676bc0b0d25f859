import { pastPresets } from '@/lib/dates';
import {
  DOCUMENT_STATUSES,
  DOCUMENT_TYPES,
  documentStaffFilters,
  listDocumentsForStaff,
  salesDocumentsCsv,
} from '@/lib/sales-documents/list-for-staff';
import type { SalesDocumentRow } from '@/lib/sales-documents/schema';
import { choiceOf, customerField, type ListDeclaration } from '../_components/lists/list-declaration';
import { DocumentList } from '../_components/records/document-list';

export const SALES_DOCUMENTS = {
  title: 'Sales documents',
  description: 'Offers and order confirmations.',
  path: '/admin/sales-documents',
  noun: 'sales document',
  yet: 'They appear here as soon as one is created.',
  schema: documentStaffFilters,
  fields: ({ today }) => [
    customerField,
    { name: 'number', label: 'Number', placeholder: 'Full number or #ID' },
    { name: 'type', label: 'Type', options: choiceOf(DOCUMENT_TYPES) },
    { name: 'status', label: 'Status', options: choiceOf(DOCUMENT_STATUSES) },
    { name: 'from', label: 'Date', presets: pastPresets(today) },
  ],
  read: ({ db }, filters, place) => listDocumentsForStaff(db, filters, place),
  Rows: ({ rows, sorting }) => <DocumentList documents={rows} sorting={sorting} />,
  csv: ({ db }, filters) => salesDocumentsCsv(db, filters),
} satisfies ListDeclaration<typeof documentStaffFilters, SalesDocumentRow>;
