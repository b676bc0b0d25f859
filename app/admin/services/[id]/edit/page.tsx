import { notFound } from 'next/navigation';
import { save } from '@/app/admin/_components/forms/record/actions';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { readTyped } from '@/lib/records/typed-record';
import { getRuntime } from '@/lib/runtime';
import { listServers } from '@/lib/servers/queries';
import { getService } from '@/lib/services/queries';
import { typedService } from '@/lib/services/save-services';
import { orNotFound } from '../../../../_components/or-not-found';
import { toId } from '../../../../_components/search-params';
import { FormPage } from '../../../_components/forms/record/form-page';
import { choiceFor } from '../../../_components/forms/record/new-for';
import { titleOfRow } from '../../../_components/page/title-of';
import { titleOfRow } from '@/app/admin/_components/page/title-of';
import { editRecordPage } from '@/app/admin/record-form-pages';
import { getService } from '@/lib/services/get-service';
import { serviceParts } from '../../form-parts';

export const generateMetadata = titleOfRow('Edit service', async (db, id) => {
  const { domain, name } = await getService(db, id);
  return `Edit ${domain ?? name}`;
});

export default editRecordPage({
  form: 'service',
  label: 'Service',
  submit: 'Save',
  heading: async () => ({
    title: 'Edit service',
    back: ({ service_number }) => `Service ${service_number}`,
  }),
  parts: serviceParts,
  hasCustomer: true,
});
