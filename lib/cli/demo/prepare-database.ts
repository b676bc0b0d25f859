import { verifyPassword } from 'better-auth/crypto';
import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { keepPrivate } from '@/db/embedded-files';
import { hasCustomers, seedDatabase } from '@/db/seed';
import { accessTokens, staffAccounts, staffUsers } from '../../../db/schema';
import type { StaffDeps } from '../../auth/staff-user';
import { toCalendarDate } from '../../dates';
import type { Env } from '../../env';
import { StartError } from '../../errors';
import { makeDataDir, migrateServer, openDatabase, withServer } from '../../open-database';
import { baseRuntime } from '../../runtime';
import { setStaffPassword } from '../../staff/credentials';
import { addStaffUser, changeStaffRole } from '../../staff/manage-staff';
import { SCOPES } from '../../tokens/access-token';
import { createAccessToken, revokeAccessToken } from '../../tokens/manage-access-tokens';
import { prepareWorld } from './local-stripe';
import { DEMO, DEMO_ACTOR, type DemoEnv, type DemoSettings } from './settings';
import { showStates } from './show-states';

/**
 * Migrates the demo's database, fills it if it is empty, and closes it so that the server can open it.
 *
 * @returns the token of this run, and the local Stripe account, or null if the environment configures a Stripe account
 * @throws StartError if the database contains rows that no demo created
 */
export async function prepareDatabase({ env, settings, ownStripe }: DemoEnv) {
  const runtime = baseRuntime(env);
  await requireOwnDatabase(env, settings.staffEmail);
  makeDataDir(env.dataDir); // The demo's other files need the folder even with DATABASE_URL.
  keepPrivate(env.dataDir);
  await migrateServer(env); // This does nothing for an embedded database, which `openDatabase` migrates.
  const { db, close } = await openDatabase(env);
  try {
    await requireOwnFolder(db, env, settings.staffEmail);
    // This must be the first write, because the checks look for its audit entry.
    await prepareStaffUser({ db, ...runtime }, settings);
    const fresh = !(await hasCustomers(db));
    if (fresh) {
      console.log('Filling the empty database with sample data …');
      const today = toCalendarDate(runtime.now(), env.timeZone);
      await seedDatabase(db, { today, timeZone: env.timeZone });
      await showStates(db, { now: runtime.now(), timeZone: env.timeZone });
    }
    const token = await prepareAccessToken(db, runtime);
    const world = ownStripe ? await prepareWorld(db, env, { ...runtime, fresh }) : null;
    return { token, world };
  } finally {
    await close();
  }
}

const WEEK_MS = 7 * 86_400_000;

/**
 * Revokes the tokens of earlier runs, and creates this run's token with all scopes. A run cannot revoke its own token
 * when it ends, because its server still has the embedded database open.
 */
export async function prepareAccessToken(
  db: Database,
  world: { now(): Date; randomBytes(size: number): Buffer },
): Promise<string> {
  const ours = await db
    .select({ id: accessTokens.id })
    .from(accessTokens)
    .where(
      and(eq(accessTokens.name, DEMO), eq(accessTokens.created_by, DEMO), isNull(accessTokens.revoked_at)),
    );
  for (const { id } of ours) await revokeAccessToken(db, id, { actor: DEMO_ACTOR, now: world.now() });
  const expires_at = new Date(world.now().getTime() + WEEK_MS);
  const input = { name: DEMO, scopes: [...SCOPES], expires_at, created_by: DEMO_ACTOR };
  return (await createAccessToken(db, input, world.randomBytes)).token;
}

/** Creates the demo's admin login, or restores its password and role. A new password ends all its sessions. */
async function prepareStaffUser(world: StaffDeps, settings: DemoSettings): Promise<void> {
  const login = { email: settings.staffEmail, password: settings.staffPassword };
  const [found] = await world.db
    .select({ hash: staffAccounts.password })
    .from(staffUsers)
    .leftJoin(
      staffAccounts,
      and(eq(staffAccounts.userId, staffUsers.id), eq(staffAccounts.providerId, 'credential')),
    )
    .where(eq(staffUsers.email, login.email));
  const actor = DEMO_ACTOR;
  const { email, password } = login;
  if (!found) {
    await addStaffUser(world, { ...login, name: 'Demo', role: 'admin' }, actor);
    return;
  }
  if (!found.hash || !(await verifyPassword({ hash: found.hash, password }))) {
    await setStaffPassword(world, { email }, { password }, actor);
  }
  await changeStaffRole(world.db, { email }, 'admin', actor);
}

/**
 * Checks that the database of DATABASE_URL is empty, or that a demo filled it and no other staff or access tokens were
 * added since. The check only reads, so that it cannot change a database that is not the demo's.
 *
 * @throws StartError for any other database
 */
async function requireOwnDatabase(
  { databaseUrl }: Pick<Env, 'databaseUrl'>,
  staffEmail: string,
): Promise<void> {
  if (!databaseUrl) return;
  const found = await withServer(databaseUrl, (db) =>
    db.transaction((tx) => findForeign(tx, staffEmail), { accessMode: 'read only' }),
  );
  if (!found) return;
  throw new StartError([`The database of DATABASE_URL contains ${found}: give the demo an empty database.`]);
}

/**
 * Checks that a demo filled the embedded database, or that it has no staff, customers or valid access tokens. Other rows
 * do not count, because the server that created the database writes some itself.
 *
 * @throws StartError for any other database
 */
async function requireOwnFolder(
  db: Database,
  { databaseUrl, dataDir }: Pick<Env, 'databaseUrl' | 'dataDir'>,
  staffEmail: string,
): Promise<void> {
  if (databaseUrl) return; // `requireOwnDatabase` has checked it before the migration.
  const inUse = sql`exists (select from staff_users) or exists (select from customers)
    or exists (select from access_tokens where revoked_at is null)`;
  if (!(await holds(db, inUse)) || (await holds(db, isFilledByDemo(staffEmail)))) return;
  throw new StartError([
    `The database in DATA_DIR ${dataDir} contains rows that the demo did not create: set DATA_DIR to another folder.`,
  ]);
}

/** Describes rows that no demo created, as part of an error message. Returns null if the database has no such rows. */
async function findForeign(tx: Database, staffEmail: string): Promise<string | null> {
  const used = await findUsedTable(tx);
  if (!used) return null;
  const tables = sql`to_regclass('audit_log') is not null and to_regclass('staff_users') is not null
    and to_regclass('access_tokens') is not null`;
  const isOwn = (await holds(tx, tables)) && (await holds(tx, isFilledByDemo(staffEmail)));
  if (!isOwn) return `rows that the demo did not create (in ${used})`;
  if (await holds(tx, sql`exists (select from staff_users where email <> ${staffEmail})`)) {
    return 'staff that the demo did not create';
  }
  const others = sql`exists (select from access_tokens
    where revoked_at is null and created_by is distinct from ${DEMO})`;
  return (await holds(tx, others)) ? 'access tokens that the demo did not create' : null;
}

/** Returns whether the audit log has the entry that a demo writes first in an empty database. */
const isFilledByDemo = (staffEmail: string) =>
  sql`exists (select from audit_log where actor_type::text = 'cli' and actor_id = ${DEMO}
    and action = 'staff_user.create' and after ->> 'email' = ${staffEmail})`;

/** Finds the first table with a row, except tables of PostgreSQL, of extensions and of drizzle. */
async function findUsedTable(tx: Database): Promise<string | null> {
  const tables = await rows<{ name: string }>(
    tx,
    sql`select format('%I.%I', n.nspname, c.relname) as name
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'f') and n.nspname not in ('pg_catalog', 'information_schema', 'drizzle')
        and n.nspname not like 'pg_toast%' and n.nspname not like 'pg_temp%'
        and not exists (select from pg_depend d
          where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
      order by 1`,
  );
  await tx.execute(sql`set local row_security = off`); // Fail instead of silently skipping rows that a policy hides.
  for (const { name } of tables) {
    if (await holds(tx, sql`exists (select from ${sql.raw(name)})`)) return name;
  }
  return null;
}

async function holds(tx: Database, condition: SQL): Promise<boolean> {
  const [found] = await rows<{ holds: boolean }>(tx, sql`select ${condition} as holds`);
  return found?.holds === true;
}
