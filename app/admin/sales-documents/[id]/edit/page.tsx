import { notFound, redirect } from 'next/navigation';
import { save } from '@/app/admin/_components/forms/record/actions';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { readTyped } from '@/lib/records/typed-record';
import { getRuntime } from '@/lib/runtime';
import { getSalesDocument } from '@/lib/sales-documents/queries';
import { typedSalesDocument } from '@/lib/sales-documents/save-sales-documents';
import { orNotFound } from '../../../../_components/or-not-found';
import { toId } from '../../../../_components/search-params';
import { FormPage } from '../../../_components/forms/record/form-page';
import { choiceFor } from '../../../_components/forms/record/new-for';
import { titleOfRow } from '../../../_components/page/title-of';
import { documentParts } from '../../form-parts';

export const generateMetadata = titleOfRow('Edit sales document', async (db, id) => {
  const { document_number } = await getSalesDocument(db, id);
  return `Edit ${document_number}`;
});

export default async function EditSalesDocumentPage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db } = await getRuntime();
  const { status, document_number } = await orNotFound(getSalesDocument(db, id));
  const page = `/admin/sales-documents/${id}`;
  if (status !== 'draft') redirect(page);
  const record = await orNotFound(readTyped(db, typedSalesDocument, id));
  return (
    <FormPage
      title={`Edit ${document_number}`}
      back={{ href: page, label: document_number }}
      label="Sales document"
      action={save.bind(null, 'sales_document', id)}
      parts={documentParts({ isNew: false })}
      record={record}
      submit="Save draft"
      cancel={page}
      customer={await choiceFor(record.typed.customer_number)}
    />
  );
}
