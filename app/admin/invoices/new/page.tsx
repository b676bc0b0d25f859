import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import type { SearchParams } from '../../../_components/search-params';
import { firstLine } from '../../_components/forms/lines/new-line';
import { save } from '../../_components/forms/record/actions';
import { FormPage } from '../../_components/forms/record/form-page';
import { newFor } from '../../_components/forms/record/new-for';
import { invoiceParts } from '../form-parts';
import { PATH } from '../path';

export const metadata: Metadata = { title: 'New invoice' };

export default async function NewInvoicePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const { typed, cancel, customer, taxRate } = await newFor(searchParams, PATH);
  return (
    <FormPage
      title="New invoice"
      back={{ href: PATH, label: 'Invoices' }}
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
