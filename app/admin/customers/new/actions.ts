'use server';

import { requireStaff } from '@/lib/auth/staff-session';
import { typedCustomer } from '@/lib/customers/typed-customer';
import type { FormState } from '../../_components/record/form-state';
import { saveForm } from '../../_components/record/save-form';
import { PATH } from '../path';

/** Makes a customer, and leads to it. */
export async function create(_before: FormState, form: FormData): Promise<FormState> {
  const staff = await requireStaff();
  return saveForm(staff, { typedKind: typedCustomer, id: null, path: PATH }, form);
}
