'use server';

import { invoiceKind } from '@/lib/invoices/save-invoices';
import { type DraftState, saveDraft } from '../../../_components/draft/save-draft';
import { PATH } from '../../path';

/** Saves a draft. @param version as the page showed it */
export async function save(
  id: number,
  version: number,
  _before: DraftState,
  form: FormData,
): Promise<DraftState> {
  return saveDraft(invoiceKind, { path: PATH, notice: 'saved', seen: { id, version } }, form);
}
