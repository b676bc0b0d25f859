'use server';

import { invoiceKind } from '@/lib/invoices/save-invoices';
import { type DraftState, saveDraft } from '../../../_components/draft/save-draft';
import { PATH } from '../../path';

/** Changes when an invoice is due. @param version as the page showed it */
export async function change(
  id: number,
  version: number,
  _before: DraftState,
  form: FormData,
): Promise<DraftState> {
  return saveDraft(invoiceKind, { path: PATH, notice: 'due', seen: { id, version } }, form);
}
