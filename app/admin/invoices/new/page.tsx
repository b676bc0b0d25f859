import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import type { SearchParams } from '../../../_components/search-params';
import { firstLine } from '../../_components/forms/lines/new-line';
import { save } from '../../_components/forms/record/actions';
import { FormPage } from '../../_components/forms/record/form-page';
import { newFor } from '../../_components/forms/record/new-for';
import { invoiceParts } from '../form-parts';

export const metadata: Metadata = { title: 'New invoice' };

export default async function NewInvoicePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const { typed, cancel, customer, taxRate } = await newFor(searchParams, '/admin/invoices');
  return (
    <FormPage
      title="New invoice"
      back={{ href: '/admin/invoices', label: 'Invoices' }}
      label="Invoice"
      action={save.bind(null, 'new_invoice', null)}
      parts={invoiceParts({ isNew: true })}
      record={{ version: null, typed: { ...typed, ...firstLine(taxRate) } }}
      submit="Save draft"
      cancel={cancel}
      customer={customer}
    />
  );
}
