import type { LineRow } from '@/lib/invoices/line-fields';
import type { SalesDocumentDetails } from '@/lib/sales-documents/get-sales-document';
import { DOCUMENT_TYPES } from '@/lib/sales-documents/staff-filters';
import { formatField } from '../../_components/format';
import type { DraftField } from '../_components/draft/draft-form';
import { toLineFields } from '../_components/draft/typed-lines';

const CONTENT: DraftField[] = [
  { name: 'customer_number', label: 'Customer', description: 'Its number.' },
  { name: 'currency', label: 'Currency', description: 'Such as EUR.' },
  { name: 'document_date', label: 'Date', type: 'date', description: 'Empty: today.' },
  { name: 'valid_until', label: 'Valid until', type: 'date' },
];
const TYPE: DraftField = {
  name: 'type',
  label: 'Type',
  options: DOCUMENT_TYPES.map((value) => ({ value, label: formatField(value) })),
};

/** What is typed of a document beside its lines; of a new one its type too. */
export const FIELDS = { edited: CONTENT, fresh: [TYPE, ...CONTENT] };

/** A draft as the fields of its form. */
export function toFields(document: SalesDocumentDetails, lines: LineRow[]): Record<string, string> {
  return {
    customer_number: document.customer.customer_number,
    currency: document.currency.toUpperCase(),
    document_date: document.document_date,
    valid_until: document.valid_until ?? '',
    ...toLineFields(lines, document.currency),
  };
}

/** A new one. */
export const newFields = (customer_number: string): Record<string, string> => ({
  type: 'offer',
  customer_number,
  currency: 'EUR',
  document_date: '',
  valid_until: '',
  ...toLineFields([], 'eur'),
});
