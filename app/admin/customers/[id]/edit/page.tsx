import { notFound } from 'next/navigation';
import { save } from '@/app/admin/_components/forms/record/actions';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { getCustomer } from '@/lib/customers/queries';
import { typedCustomer } from '@/lib/customers/save-customers';
import { readTyped } from '@/lib/records/typed-record';
import { getRuntime } from '@/lib/runtime';
import { orNotFound } from '../../../../_components/or-not-found';
import { toId } from '../../../../_components/search-params';
import { FormPage } from '../../../_components/forms/record/form-page';
import { titleOfRow } from '../../../_components/page/title-of';
import { customerParts } from '../../form-parts';

export const generateMetadata = titleOfRow('Edit customer', async (db, id) => {
  const customer = await getCustomer(db, { id });
  return customer && `Edit ${customer.name || customer.customer_number}`;
});

export default async function EditCustomerPage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const record = await orNotFound(readTyped((await getRuntime()).db, typedCustomer, id));
  const page = `/admin/customers/${id}`;
  return (
    <FormPage
      title="Edit customer"
      back={{ href: page, label: `Customer ${record.typed.customer_number}` }}
      label="Customer"
      action={save.bind(null, 'customer', id)}
      parts={customerParts({ isNew: false })}
      record={record}
      submit="Save"
      cancel={page}
    />
  );
}
