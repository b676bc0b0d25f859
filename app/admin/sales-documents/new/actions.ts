'use server';

import { salesDocumentKind } from '@/lib/sales-documents/save-sales-documents';
import { type DraftState, saveDraft } from '../../_components/draft/save-draft';
import { PATH } from '../path';

/** Makes a draft of an offer or an order confirmation, and leads to it. */
export async function create(_before: DraftState, form: FormData): Promise<DraftState> {
  return saveDraft(salesDocumentKind, { path: PATH, notice: 'created' }, form);
}
