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
import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { editRecordPage } from '@/app/admin/record-form-pages';
import { getSalesDocument } from '@/lib/sales-documents/get-sales-document';
import { documentParts } from '../../form-parts';

export const generateMetadata = titleOfRow('Edit sales document', async (db, id) => {
  const { document_number } = await getSalesDocument(db, id);
  return `Edit ${document_number}`;
});

export default editRecordPage({
  form: 'sales_document',
  label: 'Sales document',
  submit: 'Save draft',
  heading: async (db, id) => {
    const { status, document_number } = await getSalesDocument(db, id);
    return status === 'draft' ? { title: `Edit ${document_number}`, back: document_number } : null;
  },
  parts: () => documentParts({ isNew: false }),
  hasCustomer: true,
});
