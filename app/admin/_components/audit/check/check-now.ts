import { type StaffMember, staffActor } from '@/lib/auth/session/staff-session';
import { getRuntime } from '@/lib/runtime';
import { type Checkable, checkWithStripe } from '@/lib/sync/staff/check-with-stripe';
import { syncDeps } from '@/lib/sync/sync-deps';
import { leaveFor } from '../../forms/record/leave-for';
import { refusalOf } from '../../forms/refusal-of';

/** Brings a record in sync with Stripe, and leads to its page, which shows what changed. */
export async function checkNow(staff: StaffMember, entity: Checkable, id: number): Promise<never> {
  const runtime = await getRuntime();
  const refused = await refusalOf(checkWithStripe(syncDeps(runtime), staffActor(staff), entity, id));
  leaveFor(`/admin/${entity}s/${id}?check=${refused ?? 'done'}`);
}
