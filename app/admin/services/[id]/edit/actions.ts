'use server';

import { requireStaff } from '@/lib/auth/staff-session';
import { typedService } from '@/lib/services/typed-service';
import type { FormState } from '../../../_components/record/form-state';
import { saveForm } from '../../../_components/record/save-form';
import { PATH } from '../../path';

/** Changes a service, and leads to it. */
export async function save(id: number, _before: FormState, form: FormData): Promise<FormState> {
  const staff = await requireStaff();
  return saveForm(staff, { typedKind: typedService, id, path: PATH }, form);
}
