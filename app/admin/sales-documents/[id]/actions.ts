'use server';

import { requireStaff } from '@/lib/auth/staff-session';
import { AppError } from '@/lib/errors';
import { staffRecordWriter } from '@/lib/records/staff-writer';
import { getRuntime } from '@/lib/runtime';
import { convertDocument } from '@/lib/sales-documents/convert';
import type { Conversion } from '@/lib/sales-documents/document-steps';
import { moveDocument } from '@/lib/sales-documents/move-document';
import { leaveFor } from '../../_components/record/leave-for';
import { refusalOf } from '../../_components/refusal-of';
import { PATH } from '../path';

/** Brings a document one step on. @param version as the page showed it */
export async function move(id: number, version: number, status: string): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const moved = moveDocument(runtime.db, { id, version }, status, staffRecordWriter(runtime, staff));
  leaveFor(`${PATH}/${id}?notice=${(await refusalOf(moved)) ?? 'moved'}`);
}

/** Makes an order confirmation or an invoice of a document, and leads to it. @param version as the page showed it */
export async function convert(id: number, version: number, to: Conversion): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  let target: string;
  try {
    const made = await convertDocument(runtime.db, { id, version, to }, staffRecordWriter(runtime, staff));
    target = `${to === 'invoice' ? '/admin/invoices' : PATH}/${made.id}?notice=created`;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    target = `${PATH}/${id}?notice=${error.code}`;
  }
  leaveFor(target);
}
