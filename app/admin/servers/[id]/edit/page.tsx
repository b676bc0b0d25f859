import { getServer } from '@/lib/servers/queries';
import { titleOfRow } from '../../../_components/page/staff-page';
import { editRecordPage } from '../../../record-form-pages';
import { SERVER_PARTS } from '../../form-parts';

export const generateMetadata = titleOfRow('Edit server', getServer, ({ hostname }) => `Edit ${hostname}`);

export default editRecordPage('server', {
  read: getServer,
  heading: ({ hostname }) => ({ back: hostname }),
  parts: () => SERVER_PARTS,
});
