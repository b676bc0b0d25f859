'use server';

import { invoiceKind } from '@/lib/invoices/save-invoices';
import { type DraftState, saveDraft } from '../../_components/draft/save-draft';
import { PATH } from '../path';

/** Makes a draft of an invoice, and leads to it. */
export async function create(_before: DraftState, form: FormData): Promise<DraftState> {
  return saveDraft(invoiceKind, { path: PATH, notice: 'created' }, form);
}
