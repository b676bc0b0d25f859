import { notFound, redirect } from 'next/navigation';
import { save } from '@/app/admin/_components/forms/record/actions';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { getInvoice } from '@/lib/invoices/queries';
import { typedInvoice } from '@/lib/invoices/save-invoices';
import { readTyped } from '@/lib/records/typed-record';
import { getRuntime } from '@/lib/runtime';
import { orNotFound } from '../../../../_components/or-not-found';
import { toId } from '../../../../_components/search-params';
import { FormPage } from '../../../_components/forms/record/form-page';
import { choiceFor } from '../../../_components/forms/record/new-for';
import { titleOfRow } from '../../../_components/page/title-of';
import { invoiceName } from '../../../_components/records/invoice-list';
import { invoiceParts, isOwnDraft } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Edit invoice',
  async (db, id) => `Edit draft ${invoiceName(await getInvoice(db, id))}`,
);

export default async function EditInvoicePage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db } = await getRuntime();
  const page = `/admin/invoices/${id}`;
  if (!isOwnDraft(await orNotFound(getInvoice(db, id)))) redirect(page);
  const record = await orNotFound(readTyped(db, typedInvoice, id));
  return (
    <FormPage
      title="Edit draft"
      back={{ href: page, label: 'Invoice' }}
      label="Invoice"
      action={save.bind(null, 'invoice', id)}
      parts={invoiceParts({ isNew: false })}
      record={record}
      submit="Save draft"
      cancel={page}
      customer={await choiceFor(record.typed.customer_number)}
    />
  );
}
