'use server';

import { saveCompany } from '@/lib/documents/company';
import { staffFormAction } from '../../_components/page/staff-action';
import { COMPANY_FORM } from './company-fields';

/** Saves our company's details for documents, and redirects to the page of the company. */
export const save = staffFormAction({
  role: 'admin',
  input: [],
  form: { ...COMPANY_FORM, remove_logo: 'flag' },
  run: async ({ runtime: { db }, actor }, { small_business, logo: _, remove_logo, ...texts }, form) => {
    const filled = Object.entries(texts).map(([name, text]) => [name, text.trim() || null]);
    const values = Object.fromEntries(filled) as Record<keyof typeof texts, string | null>;
    const file = form.get('logo');
    const isGiven = file instanceof File && file.size > 0;
    const logo = isGiven ? Buffer.from(await file.arrayBuffer()) : remove_logo ? null : undefined;
    await saveCompany(db, { ...values, small_business }, { actor, logo });
  },
  done: () => '/admin/settings/company?notice=saved',
  refused: ({ problems }, typed) => ({ typed: { ...typed, logo: '' }, problems }),
});
