import { recordListPage } from '../_components/forms/record/record-list-page';
import { SALES_DOCUMENTS } from './list';

export const metadata = { title: SALES_DOCUMENTS.title };

export default recordListPage(SALES_DOCUMENTS, { create: 'New document', deleted: 'The draft is deleted.' });
