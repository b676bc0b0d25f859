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
import { serviceParts } from '../../form-parts';

export const generateMetadata = titleOfRow('Edit service', async (db, id) => {
  const { domain, name } = await getService(db, id);
  return `Edit ${domain ?? name}`;
});

export default async function EditServicePage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db } = await getRuntime();
  const record = await orNotFound(readTyped(db, typedService, id));
  const servers = (await listServers(db)).filter(
    ({ status, hostname }) => status !== 'decommissioned' || hostname === record.typed.hostname,
  );
  const page = `/admin/services/${id}`;
  return (
    <FormPage
      title="Edit service"
      back={{ href: page, label: `Service ${record.typed.service_number}` }}
      label="Service"
      action={save.bind(null, 'service', id)}
      parts={serviceParts(
        servers.map(({ hostname }) => hostname),
        { isNew: false },
      )}
      record={record}
      submit="Save"
      cancel={page}
      customer={await choiceFor(record.typed.customer_number)}
    />
  );
}
