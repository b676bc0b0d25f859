import { newRecordPage } from '../../record-form-pages';
import { SERVER_PARTS } from '../form-parts';

export const metadata = { title: 'New server' };

export default newRecordPage('server', {
  first: {},
  parts: () => SERVER_PARTS,
});
