import { recordListPage } from '../_components/forms/record/record-list-page';
import { SERVERS } from './list';

export const metadata = { title: SERVERS.title };

export default recordListPage(SERVERS, { create: 'New server', deleted: 'The server is deleted.' });
