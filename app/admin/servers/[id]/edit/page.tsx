import { notFound } from 'next/navigation';
import { save } from '@/app/admin/_components/forms/record/actions';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { readTyped } from '@/lib/records/typed-record';
import { getRuntime } from '@/lib/runtime';
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

export default async function EditServerPage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const record = await orNotFound(readTyped((await getRuntime()).db, typedServer, id));
  const page = `/admin/servers/${id}`;
  return (
    <FormPage
      title="Edit server"
      back={{ href: page, label: record.typed.hostname ?? '' }}
      label="Server"
      action={save.bind(null, 'server', id)}
      parts={SERVER_PARTS}
      record={record}
      submit="Save"
      cancel={page}
    />
  );
}
