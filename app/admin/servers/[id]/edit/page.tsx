import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { editRecordPage } from '@/app/admin/record-form-pages';
import { getServer } from '@/lib/servers/queries';
import { typedServer } from '@/lib/servers/save-servers';
import { orNotFound } from '../../../../_components/or-not-found';
import { toId } from '../../../../_components/search-params';
import { FormPage } from '../../../_components/forms/record/form-page';
import { titleOfRow } from '../../../_components/page/title-of';
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
