import { recordListPage } from '../_components/forms/record/record-list-page';
import { CUSTOMERS } from './list';

export const metadata = { title: CUSTOMERS.title };

export default recordListPage(CUSTOMERS, { create: 'New customer', deleted: 'The customer is deleted.' });
