import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { save } from '../../_components/forms/record/actions';
import { FormPage } from '../../_components/forms/record/form-page';
import { SERVER_PARTS } from '../form-parts';

export const metadata: Metadata = { title: 'New server' };

export default async function NewServerPage() {
  await requireStaff();
  return (
    <FormPage
      title="New server"
      back={{ href: '/admin/servers', label: 'Servers' }}
      label="Server"
      action={save.bind(null, 'new_server', null)}
      parts={SERVER_PARTS}
      record={{ version: null, typed: {} }}
      submit="Create server"
      cancel="/admin/servers"
    />
  );
}
