import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { editRecordPage } from '@/app/admin/record-form-pages';
import { getServer } from '@/lib/servers/queries';
import { SERVER_PARTS } from '../../form-parts';

export const generateMetadata = titleOfRow(
  'Edit server',
  async (db, id) => `Edit ${(await getServer(db, id)).hostname}`,
);

export default editRecordPage({
  form: 'server',
  label: 'Server',
  submit: 'Save',
  heading: async () => ({ title: 'Edit server', back: ({ hostname }) => hostname ?? '' }),
  parts: () => SERVER_PARTS,
});
