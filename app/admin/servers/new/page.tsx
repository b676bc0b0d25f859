import { newRecordPage } from '../../record-form-pages';
import { SERVER_PARTS } from '../form-parts';

export const metadata = { title: 'New server' };

export default newRecordPage({
  form: 'new_server',
  title: 'New server',
  label: 'Server',
  submit: 'Create server',
  list: 'Servers',
  first: {},
  parts: () => SERVER_PARTS,
});
