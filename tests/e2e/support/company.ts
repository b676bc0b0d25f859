import { randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '@/db/database';
import { reconciliationChanges, reconciliationFailures, reconciliationRuns } from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { commandActor } from '@/lib/audit/record-audit';
import { addStaffUser } from '@/lib/auth/staff/add-staff-user';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';

export const STAFF = { email: 'grace@example.com', name: 'Grace Hopper', password: 'correct horse battery' };
export const ADMIN = { email: 'root@example.com', name: 'Radia Perlman', password: 'correct horse battery' };
const MINUTE = 60_000;

/** The sample company as of today, a person who may sign in, a token, and two reconciliation runs. */
export async function fillCompany(db: Database): Promise<{ token: string; runId: number }> {
  const now = new Date();
  await seedDatabase(db, { today: now.toISOString().slice(0, 10), timeZone: 'UTC' });
  await addStaffUser({ db, newId: randomUUID, randomBytes }, STAFF, commandActor('test'));
  const { token } = await createAccessToken(
    db,
    {
      name: 'ERP',
      scopes: ['payments:read', 'payments:write'],
      expires_at: null,
      created_by: commandActor('test'),
    },
    randomBytes,
  );
  return { token, runId: await insertRuns(db, now) };
}

/** Somebody who may issue tokens and manage staff. @returns the id */
export async function fillAdmin(db: Database): Promise<string> {
  const world = { db, newId: randomUUID, randomBytes };
  return (await addStaffUser(world, { ...ADMIN, role: 'admin' }, commandActor('test'))).id;
}

/** An uneventful run of yesterday, and one of today with changes and a failure. */
async function insertRuns(db: Database, now: Date): Promise<number> {
  const run = (startedAt: number) => ({
    phase: 'done' as const,
    started_at: new Date(startedAt),
    heartbeat_at: new Date(startedAt + MINUTE),
    finished_at: new Date(startedAt + MINUTE),
    lists_completed: true,
    objects_checked: 412,
  });
  const [, latest] = await db
    .insert(reconciliationRuns)
    .values([
      { ...run(now.getTime() - 1440 * MINUTE), trigger: 'schedule', status: 'completed' },
      {
        ...run(now.getTime() - 90 * MINUTE),
        trigger: 'staff',
        started_by: STAFF.email,
        status: 'completed_with_errors',
        changes_count: 3,
        failures_count: 1,
      },
    ])
    .returning({ id: reconciliationRuns.id });
  if (!latest) throw new Error('insert returned no row');
  const run_id = latest.id;
  await db.insert(reconciliationChanges).values([
    {
      run_id,
      entity: 'subscription',
      entity_id: 12,
      stripe_id: 'sub_1QxYvL2eZvKYlo2C',
      field: 'status',
      before: 'active',
      after: 'past_due',
      outcome: 'fixed',
    },
    {
      run_id,
      entity: 'invoice',
      entity_id: 31,
      stripe_id: 'in_1QxZ8h2eZvKYlo2CfWq7pLmT',
      field: 'paid_at',
      before: null,
      after: '2026-11-20T03:12:44.000Z',
      outcome: 'fixed',
    },
    {
      run_id,
      entity: 'invoice',
      entity_id: null,
      stripe_id: 'in_1QxZ8h2eZvKYlo2CgGone000',
      field: 'provider_gone_at',
      before: null,
      after: null,
      outcome: 'reported',
    },
  ]);
  await db.insert(reconciliationFailures).values({
    run_id,
    object: 'invoice',
    stripe_id: 'in_1QxZ8h2eZvKYlo2Cfailed',
    error_code: 'stripe_timeout',
  });
  return run_id;
}
