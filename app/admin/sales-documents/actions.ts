'use server';

import { notFound } from 'next/navigation';
import { requireStaff } from '@/lib/auth/session/staff-session';
import { AppError } from '@/lib/errors';
import { staffRecordWriter } from '@/lib/records/record-kind';
import { getRuntime } from '@/lib/runtime';
import { convertDocument } from '@/lib/sales-documents/convert';
import type { Conversion } from '@/lib/sales-documents/save-sales-documents';
import { sentSeen } from '../../_components/forms/record/kinds';
import { leaveFor } from '../../_components/page/staff-action';
import type { Conversion } from '@/lib/sales-documents/document-steps';
import { sentSeen } from '../_components/forms/record/kinds';
import { leaveFor } from '../_components/page/staff-action';

/** Makes an order confirmation or an invoice of a document, and leads to it. @param version as the page showed it */
export async function convert(id: number, version: number, to: Conversion): Promise<void> {
  const staff = await requireStaff();
  const seen = sentSeen.safeParse({ id, version }).data ?? notFound();
  const runtime = await getRuntime();
  let target: string;
  try {
    const made = await convertDocument(runtime.db, { ...seen, to }, staffRecordWriter(runtime, staff));
    target = `${to === 'invoice' ? '/admin/invoices' : '/admin/sales-documents'}/${made.id}?notice=created`;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    target = `/admin/sales-documents/${seen.id}?notice=${error.code}`;
  }
  leaveFor(target);
}
