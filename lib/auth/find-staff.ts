import { eq } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { staffSettings } from '@/db/schema';
import { type Actor, recordAudit } from '../audit/audit-log';
import type { Runtime } from '../runtime';
import { getStaffAuth } from './staff-auth';
import { type StaffUser, writeStaff } from './staff-user';

export type StaffMember = StaffUser;

/** The step that a signed-in person must take first. */
export type DueStep = 'password' | 'two_factor';

export interface StaffSession {
  staff: StaffMember;
  /** Of the session, not its token. */
  sessionId: string;
  hasTwoFactor: boolean;
  due: DueStep | null;
}

/** The person whom the request's cookies sign in, without a due step; null if there is no such person. */
export async function findStaff(runtime: Runtime, headers: Headers): Promise<StaffMember | null> {
  const found = await findStaffSession(runtime, headers);
  return found?.due === null ? found.staff : null;
}

/** The same, even if a step is due. */
export async function findStaffSession(runtime: Runtime, headers: Headers): Promise<StaffSession | null> {
  const found = await getStaffAuth(runtime).api.getSession({ headers });
  if (!found) return null;
  const { id, name, email, role, passwordTemporary, twoFactorEnabled } = found.user;
  const hasTwoFactor = twoFactorEnabled === true;
  const lacksFactor = !hasTwoFactor && (await isTwoFactorRequired(runtime.db));
  const due = passwordTemporary ? 'password' : lacksFactor ? 'two_factor' : null;
  return { staff: { id, name, email, role }, sessionId: found.session.id, hasTwoFactor, due };
}

/** The settings' only row. */
const ID = 1;

/** Whether all staff must have an authenticator app. */
export async function isTwoFactorRequired(db: Database): Promise<boolean> {
  const [row] = await findSettings(db, { id: ID });
  return row?.two_factor_required ?? false;
}

const findSettings = statement(['id'], (db, { id }) =>
  db
    .select({ two_factor_required: staffSettings.two_factor_required })
    .from(staffSettings)
    .where(eq(staffSettings.id, id)),
);

/**
 * Demands an authenticator app of everybody, from their next request on, or no longer.
 *
 * @throws AppError forbidden where the actor is no admin
 */
export async function demandTwoFactor(
  db: Database,
  two_factor_required: boolean,
  actor: Actor,
): Promise<void> {
  await writeStaff(db, actor, async (tx) => {
    const before = await isTwoFactorRequired(tx);
    if (before === two_factor_required) return;
    await tx
      .insert(staffSettings)
      .values({ id: ID, two_factor_required })
      .onConflictDoUpdate({ target: staffSettings.id, set: { two_factor_required } });
    await recordAudit(tx, {
      actor,
      action: 'staff_settings.update',
      entity: 'staff_settings',
      entity_id: ID,
      before: { two_factor_required: before },
      after: { two_factor_required },
    });
  });
}
