import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffSettings } from '@/db/schema';
import { statement } from '@/db/statement';
import { type Actor, recordAudit } from '../../audit/audit-log';
import { writeStaff } from '../staff/write-staff';

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
