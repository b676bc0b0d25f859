import { eq } from 'drizzle-orm';
import { type Database, statement } from '@/db/database';
import { staffSettings } from '@/db/schema';
import { type Actor, recordAudit } from '../audit/audit-log';
import type { Runtime } from '../runtime';
import { getStaffAuth } from './staff-auth';
import { type StaffUser, writeStaff } from './staff-user';

export type StaffMember = StaffUser;

/**
 * The step that a signed-in person must complete before using staff pages: set a new password, or set up an
 * authenticator app.
 */
export type DueStep = 'password' | 'two_factor';

export type StaffSession = NonNullable<Awaited<ReturnType<typeof findStaffSession>>>;

/**
 * Finds the person who is signed in by the request's session cookie. Returns null if there is no session or a step is
 * due.
 */
export async function findStaff(runtime: Runtime, headers: Headers): Promise<StaffMember | null> {
  const found = await findStaffSession(runtime, headers);
  return found?.due === null ? found.staff : null;
}

/**
 * Finds the session that the request's cookie identifies, its member of staff and their due step. Returns null if there
 * is no session.
 */
export async function findStaffSession(runtime: Runtime, headers: Headers) {
  const found = await getStaffAuth(runtime).api.getSession({ headers });
  if (!found) return null;
  const { id, name, email, role, passwordTemporary, twoFactorEnabled } = found.user;
  const hasTwoFactor = twoFactorEnabled === true;
  const lacksFactor = !hasTwoFactor && (await isTwoFactorRequired(runtime.db));
  const due: DueStep | null = passwordTemporary ? 'password' : lacksFactor ? 'two_factor' : null;
  const staff: StaffMember = { id, name, email, role };
  // Return the session's id and not its token, because the id gives no access.
  return { staff, sessionId: found.session.id, hasTwoFactor, due };
}

/** The id of the only row of `staff_settings`. */
const ID = 1;

/** Returns true if all staff must use an authenticator app. */
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
 * Turns the two-factor requirement for all staff on or off. It applies to each person from their next request.
 *
 * @throws AppError forbidden if the actor is not an admin
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
