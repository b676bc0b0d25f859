import { DOCUMENT_TYPES } from '@/lib/sales-documents/queries';
import type { FormField } from '../_components/forms/field';
import type { FormPart } from '../_components/forms/record/record-form';
import { currencyField } from '../_components/forms/record/suggestions';
import { choiceOf } from '../_components/lists/list-declaration';

const TYPE: FormField = { name: 'type', label: 'Type', kind: 'choice', options: choiceOf(DOCUMENT_TYPES) };

/** Returns the form fields of a draft sales document. The type can be chosen only for a new document. */
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
        type: 'date',
        ...(isNew ? { description: 'Leave empty for today.' } : { required: true }),
      },
      { name: 'valid_until', label: 'Valid until', type: 'date' },
    ],
  },
  { title: 'Lines', hasLines: true },
];
