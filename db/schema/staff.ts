import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  unique,
} from 'drizzle-orm/pg-core';
import { id, instant, timestamps } from './columns';

export const staffRole = pgEnum('staff_role', ['staff', 'admin']);

// The property names are better-auth's own; the columns keep our form.
const times = {
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
};

export const staffUsers = pgTable('staff_users', {
  id: text().primaryKey(),
  name: text().notNull(),
  email: text().notNull().unique(),
  emailVerified: boolean('email_verified').notNull().default(false),
  image: text(),
  role: staffRole().notNull().default('staff'),
  twoFactorEnabled: boolean('two_factor_enabled').notNull().default(false),
  /** Another person set the password, so that its owner must choose a new one at the next sign-in. */
  passwordTemporary: boolean('password_temporary').notNull().default(false),
  ...times,
});

const userId = () =>
  text('user_id')
    .notNull()
    .references(() => staffUsers.id, { onDelete: 'cascade' });

export const staffSessions = pgTable(
  'staff_sessions',
  {
    id: text().primaryKey(),
    userId: userId(),
    token: text().notNull().unique(),
    expiresAt: instant('expires_at').notNull(),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
    ...times,
  },
  (t) => [index('staff_sessions_user').on(t.userId), index('staff_sessions_end').on(t.expiresAt)],
);

export const staffAccounts = pgTable(
  'staff_accounts',
  {
    id: text().primaryKey(),
    userId: userId(),
    accountId: text('account_id').notNull(),
    providerId: text('provider_id').notNull(),
    accessToken: text('access_token'),
    refreshToken: text('refresh_token'),
    idToken: text('id_token'),
    accessTokenExpiresAt: instant('access_token_expires_at'),
    refreshTokenExpiresAt: instant('refresh_token_expires_at'),
    scope: text(),
    password: text(),
    ...times,
  },
  (t) => [index('staff_accounts_user').on(t.userId)],
);

export const staffVerifications = pgTable(
  'staff_verifications',
  {
    id: text().primaryKey(),
    identifier: text().notNull(),
    value: text().notNull(),
    expiresAt: instant('expires_at').notNull(),
    ...times,
  },
  (t) => [index('staff_verifications_identifier').on(t.identifier)],
);

/** Authenticator apps. Secret and recovery codes are encrypted with the secret that signs the cookies. */
export const staffTwoFactors = pgTable('staff_two_factors', {
  id: text().primaryKey(),
  userId: userId().unique(),
  secret: text().notNull(),
  backupCodes: text('backup_codes').notNull(),
  /** False until a code of the app was typed once. */
  verified: boolean().notNull().default(false),
  failedVerificationCount: integer('failed_verification_count').notNull().default(0),
  lockedUntil: instant('locked_until'),
});

export const staffPasskeys = pgTable(
  'staff_passkeys',
  {
    id: text().primaryKey(),
    userId: userId(),
    name: text(),
    publicKey: text('public_key').notNull(),
    credentialID: text('credential_id').notNull().unique(),
    counter: bigint({ mode: 'number' }).notNull(),
    deviceType: text('device_type').notNull(),
    backedUp: boolean('backed_up').notNull(),
    transports: text(),
    aaguid: text(),
    createdAt: times.createdAt,
  },
  (t) => [index('staff_passkeys_user').on(t.userId)],
);

/** One row, or none while everything is as it comes; ours, not better-auth's. */
export const staffSettings = pgTable('staff_settings', {
  id: integer().primaryKey(),
  /** Sign-in requires a second factor. */
  two_factor_required: boolean().notNull().default(false),
  ...timestamps,
});

export const staffRateLimits = pgTable(
  'staff_rate_limits',
  {
    id: text().primaryKey(),
    key: text().notNull().unique(),
    count: integer().notNull(),
    /** Milliseconds since the epoch. */
    lastRequest: bigint('last_request', { mode: 'number' }).notNull(),
  },
  (t) => [index('staff_rate_limits_last').on(t.lastRequest)],
);

/** Failed sign-ins that still count; ours, not better-auth's. */
export const staffSignInFailures = pgTable(
  'staff_sign_in_failures',
  {
    /** SHA-256 of the e-mail address as typed, whether or not an account has it. */
    account: text().notNull(),
    /** Whence: an address, a known device, or all unknown devices together. */
    origin: text().notNull(),
    failures: integer().notNull(),
    /** Until then the next try is refused without a look at its password. */
    wait_until: instant().notNull(),
    /** From then on none of it counts. */
    expires_at: instant().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.account, t.origin] }),
    index('staff_sign_in_failures_end').on(t.expires_at),
  ],
);

export type TaskKind =
  | 'payment_differs'
  | 'payment_exceeds_due'
  | 'payment_not_counted'
  | 'customer_missing'
  | 'money_came_back'
  | 'reference_collides';

/** A decision that a person has to make and that no other row shows. A task is open until it is marked as done. */
export const staffTasks = pgTable(
  'staff_tasks',
  {
    id: id(),
    kind: text().$type<TaskKind>().notNull(),
    /** Names it among those of its kind: told again, it is the same task. */
    subject: text().notNull(),
    /** A sentence for staff, with numbers and amounts, and nothing personal. */
    message: text().notNull(),
    /** The record that it is about, if there is one here. */
    entity: text().$type<'invoice' | 'payment'>(),
    entity_id: integer(),
    done_at: instant(),
    done_by: text(),
    ...timestamps,
  },
  (t) => [
    unique('staff_tasks_subject').on(t.kind, t.subject),
    index('staff_tasks_open').on(t.id).where(sql`${t.done_at} is null`),
    index('staff_tasks_entity').on(t.entity, t.entity_id),
  ],
);
