'use server';

import { requireStaff } from '@/lib/auth/staff-session';
import { typedServer } from '@/lib/servers/typed-server';
import type { FormState } from '../../_components/record/form-state';
import { saveForm } from '../../_components/record/save-form';
import { PATH } from '../path';

/** Makes a server, and leads to it. */
export async function create(_before: FormState, form: FormData): Promise<FormState> {
  const staff = await requireStaff();
  return saveForm(staff, { typedKind: typedServer, id: null, path: PATH }, form);
}
