import { recordListPage } from '../_components/forms/record/record-list-page';
import { INVOICES } from './list';

export const metadata = { title: INVOICES.title };

export default recordListPage(INVOICES, { create: 'New invoice', deleted: 'The draft is deleted.' });
