'use server';

import { requireStaff } from '@/lib/auth/staff-session';
import { cancelInvoice, sendInvoice } from '@/lib/invoices/invoice-steps';
import { staffRecordWriter } from '@/lib/records/staff-writer';
import { getRuntime } from '@/lib/runtime';
import { leaveFor } from '../../_components/record/leave-for';
import { refusalOf } from '../../_components/refusal-of';
import { PATH } from '../path';

/** Sends a draft. @param version as the page showed it */
export async function send(id: number, version: number): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const sent = sendInvoice(runtime.db, { id, version }, staffRecordWriter(runtime, staff));
  leaveFor(`${PATH}/${id}?notice=${(await refusalOf(sent)) ?? 'sent'}`);
}

/** Cancels an invoice. @param version as the page showed it */
export async function cancel(id: number, version: number): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const cancelled = cancelInvoice(runtime.db, { id, version }, staffRecordWriter(runtime, staff));
  leaveFor(`${PATH}/${id}?notice=${(await refusalOf(cancelled)) ?? 'cancelled'}`);
}
