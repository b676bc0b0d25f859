import { DOCUMENT_TYPES } from '@/lib/sales-documents/list';
import type { FormField, FormPart } from '../_components/forms/record/form-fields';
import { currencyField } from '../_components/forms/record/suggestions';
import { choiceOf } from '../_components/lists/list-declaration';

const TYPE: FormField = { name: 'type', label: 'Type', kind: 'choice', options: choiceOf(DOCUMENT_TYPES) };

/** What is asked of a draft. */
export const documentParts = ({ isNew }: { isNew: boolean }): FormPart[] => [
  {
    title: 'Document',
    fields: [
      ...(isNew ? [TYPE] : []),
      { name: 'customer_number', label: 'Customer', kind: 'customer', required: true },
      currencyField(),
      {
        name: 'document_date',
        label: 'Date',
        kind: 'date',
        ...(isNew ? { description: 'Leave empty for today.' } : { required: true }),
      },
      { name: 'valid_until', label: 'Valid until', kind: 'date' },
    ],
  },
  { title: 'Lines', hasLines: true },
];
