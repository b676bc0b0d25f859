import { notFound, redirect } from 'next/navigation';
import { save } from '@/app/admin/_components/forms/record/actions';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { getInvoice } from '@/lib/invoices/queries';
import { typedDueDate } from '@/lib/invoices/save-invoices';
import { readTyped } from '@/lib/records/typed-record';
import { getRuntime } from '@/lib/runtime';
import { orNotFound } from '../../../../_components/or-not-found';
import { toId } from '../../../../_components/search-params';
import { FormPage } from '../../../_components/forms/record/form-page';
import { titleOfRow } from '../../../_components/page/title-of';
import { invoiceName } from '../../../_components/records/invoice-list';
import { DUE_DATE, isOwnUnpaid } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Due date',
  async (db, id) => `Due date of ${invoiceName(await getInvoice(db, id))}`,
);

export default async function DueDatePage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db } = await getRuntime();
  const invoice = await orNotFound(getInvoice(db, id));
  const page = `/admin/invoices/${id}`;
  if (!isOwnUnpaid(invoice)) redirect(page);
  return (
    <FormPage
      title={`When invoice ${invoice.number} is due`}
      back={{ href: page, label: 'Invoice' }}
      label="Due date"
      action={save.bind(null, 'due_date', id)}
      parts={DUE_DATE}
      record={await orNotFound(readTyped(db, typedDueDate, id))}
      submit="Change due date"
      cancel={page}
    />
  );
}
