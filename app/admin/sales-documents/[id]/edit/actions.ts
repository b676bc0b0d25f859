'use server';

import { salesDocumentKind } from '@/lib/sales-documents/save-sales-documents';
import { type DraftState, saveDraft } from '../../../_components/draft/save-draft';
import { PATH } from '../../path';

/** Saves a draft. @param version as the page showed it */
export async function save(
  id: number,
  version: number,
  _before: DraftState,
  form: FormData,
): Promise<DraftState> {
  return saveDraft(salesDocumentKind, { path: PATH, notice: 'saved', seen: { id, version } }, form);
}
