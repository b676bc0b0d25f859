import { and, asc, desc, eq, gt, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { staffSessions, staffUsers } from '@/db/schema';
import type { Page, PageRequest } from '../../page';
import { literal, readPage } from '../../page-query';
import type { StaffUser } from './staff-user';

const MAX_SESSIONS_SHOWN = 100;

export interface StaffListRow extends StaffUser {
  created_at: Date;
  /** Open now. */
  sessions: number;
}

/** A page of those who may sign in, by address. */
export async function listStaffUsers(
  db: Database,
  request: PageRequest,
  now: Date,
): Promise<Page<StaffListRow>> {
  const open = and(eq(staffSessions.userId, staffUsers.id), gt(staffSessions.expiresAt, now));
  return readPage(
    request,
    ({ limit, offset }) =>
      db
        .select({
          id: staffUsers.id,
          email: staffUsers.email,
          name: staffUsers.name,
          role: staffUsers.role,
          created_at: staffUsers.createdAt,
          sessions: sql<number>`count(${staffSessions.id})::int`,
        })
        .from(staffUsers)
        .leftJoin(staffSessions, open)
        .groupBy(staffUsers.id)
        .orderBy(asc(staffUsers.email))
        .limit(limit)
        .offset(offset),
    () => db.$count(staffUsers),
  );
}

/** Whether anybody may issue tokens and manage staff. */
export async function hasAdmin(db: Database): Promise<boolean> {
  return (await db.$count(staffUsers, eq(staffUsers.role, 'admin'))) > 0;
}

/** The sign-ins of a person that are open now, the latest first. */
export async function openSessionsOf(db: Database, userId: string, now: Date) {
  return db
    .select({ signed_in_at: staffSessions.createdAt })
    .from(staffSessions)
    .where(and(eq(staffSessions.userId, userId), gt(staffSessions.expiresAt, now)))
    .orderBy(desc(staffSessions.createdAt))
    .limit(literal(MAX_SESSIONS_SHOWN));
}
