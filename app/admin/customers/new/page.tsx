import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { save } from '../../_components/forms/record/actions';
import { FormPage } from '../../_components/forms/record/form-page';
import { customerParts } from '../form-parts';

export const metadata: Metadata = { title: 'New customer' };

export default async function NewCustomerPage() {
  await requireStaff();
  return (
    <FormPage
      title="New customer"
      back={{ href: '/admin/customers', label: 'Customers' }}
      label="Customer"
      action={save.bind(null, 'new_customer', null)}
      parts={customerParts({ isNew: true })}
      record={{ version: null, typed: { currency: 'EUR' } }}
      submit="Create customer"
      cancel="/admin/customers"
    />
  );
}
