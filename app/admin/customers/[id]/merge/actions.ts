'use server';

import { leaveFor, refusalOf } from '@/app/admin/_components/page/staff-action';
import { requireAdmin, staffActor } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { mergeCustomers, type Seen } from '@/lib/sync/staff/merge-customers';
import { syncDeps } from '@/lib/sync/sync-deps';
import { toHref } from '../../../../_components/search-params';

/** Merges a customer into another one, and leads to that; where it is refused, back to the question. */
export async function merge(gone: Seen, kept: Seen, form: FormData): Promise<void> {
  const staff = await requireAdmin();
  const taken = form.getAll('take').map(String);
  const deps = syncDeps(await getRuntime());
  const refused = await refusalOf(mergeCustomers(deps, staffActor(staff), { gone, kept, taken }));
  if (!refused) leaveFor(`/admin/customers/${kept.id}?notice=merged`);
  leaveFor(toHref(`/admin/customers/${kept.id}/merge`, { to: String(gone.id), notice: refused }));
}
