'use server';

import { revalidatePath } from 'next/cache';
import { redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { cancelInvoice, sendInvoice } from '@/lib/invoices/invoice-steps';
import { staffWriter } from '@/lib/payments/staff-writer';
import { getRuntime } from '@/lib/runtime';
import { refusalOf } from '../../_components/refusal-of';
import { PATH } from '../path';

/** Sends a draft. @param version as the page showed it */
export async function send(id: number, version: number): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const sent = sendInvoice(runtime.db, { id, version }, staffWriter(runtime, staff));
  leaveFor(id, (await refusalOf(sent)) ?? 'sent');
}

/** Cancels an invoice. @param version as the page showed it */
export async function cancel(id: number, version: number): Promise<void> {
  const staff = await requireStaff();
  const runtime = await getRuntime();
  const cancelled = cancelInvoice(runtime.db, { id, version }, staffWriter(runtime, staff));
  leaveFor(id, (await refusalOf(cancelled)) ?? 'cancelled');
}

function leaveFor(id: number, notice: string): never {
  revalidatePath('/admin', 'layout');
  redirect(`${PATH}/${id}?notice=${notice}`);
}
