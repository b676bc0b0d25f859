import { recordListPage } from '../_components/forms/record/record-list-page';
import { SERVICES } from './list';

export const metadata = { title: SERVICES.title };

export default recordListPage(SERVICES, { create: 'New service', deleted: 'The service is deleted.' });
