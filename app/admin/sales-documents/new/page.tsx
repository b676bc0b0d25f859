import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import type { SearchParams } from '../../../_components/search-params';
import { firstLine } from '../../_components/forms/lines/new-line';
import { save } from '../../_components/forms/record/actions';
import { FormPage } from '../../_components/forms/record/form-page';
import { newFor } from '../../_components/forms/record/new-for';
import { documentParts } from '../form-parts';

export const metadata: Metadata = { title: 'New sales document' };

interface Props {
  searchParams: Promise<SearchParams>;
}

export default async function NewSalesDocumentPage({ searchParams }: Props) {
  await requireStaff();
  const { typed, cancel, customer, taxRate } = await newFor(searchParams, '/admin/sales-documents');
  return (
    <FormPage
      title="New sales document"
      back={{ href: '/admin/sales-documents', label: 'Sales documents' }}
      label="Sales document"
      action={save.bind(null, 'new_sales_document', null)}
      parts={documentParts({ isNew: true })}
      record={{ version: null, typed: { type: 'offer', ...typed, ...firstLine(taxRate) } }}
      submit="Save draft"
      cancel={cancel}
      customer={customer}
    />
  );
}
