'use server';

import { saveCompany } from '@/lib/documents/company';
import { staffFormAction } from '../../_components/page/staff-action';
import { COMPANY_FORM } from './company-fields';

/** Saves our company's details for documents, and redirects to the page of the company. */
export const save = staffFormAction({
  role: 'admin',
  input: [],
  form: COMPANY_FORM,
  run: ({ runtime: { db }, actor }, { small_business, ...texts }) => {
    const filled = Object.entries(texts).map(([name, text]) => [name, text.trim() || null]);
    const values = Object.fromEntries(filled) as Record<keyof typeof texts, string | null>;
    return saveCompany(db, { ...values, small_business }, { actor });
  },
  done: () => '/admin/settings/company?notice=saved',
  refused: ({ problems }, typed) => ({ typed, problems }),
});
