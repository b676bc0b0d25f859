'use server';

import { saveAccountingSettings } from '@/lib/exports/accounting-settings';
import { staffFormAction } from '../../_components/page/staff-action';
import { ACCOUNTING_FORM } from './accounting-fields';

/** Saves the settings of the export for DATEV, and redirects to their page. */
export const save = staffFormAction({
  role: 'admin',
  input: [],
  form: ACCOUNTING_FORM,
  run: ({ runtime: { db }, actor }, typed) => saveAccountingSettings(db, typed, { actor }),
  done: () => '/admin/settings/accounting?notice=saved',
  refused: ({ problems }, typed) => ({ typed, problems }),
});
