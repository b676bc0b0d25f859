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
import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { invoiceName } from '@/app/admin/_components/records/invoice-list';
import { editRecordPage } from '@/app/admin/record-form-pages';
import { getInvoice } from '@/lib/invoices/get-invoice';
import { invoiceParts, isOwnDraft } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Edit invoice',
  async (db, id) => `Edit draft ${invoiceName(await getInvoice(db, id))}`,
);

export default editRecordPage({
  form: 'invoice',
  label: 'Invoice',
  submit: 'Save draft',
  heading: async (db, id) =>
    isOwnDraft(await getInvoice(db, id)) ? { title: 'Edit draft', back: 'Invoice' } : null,
  parts: () => invoiceParts({ isNew: false }),
  hasCustomer: true,
});
