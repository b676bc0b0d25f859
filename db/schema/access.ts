import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { id, instant, timestamps } from './columns';

export const staffRole = pgEnum('staff_role', ['staff', 'admin']);

/**
 * The old scope that hides personal data, from before tokens and consents had a property for it. It is no longer
 * offered, because clients request every offered scope. Tokens and consents that have it still hide personal data.
 */
export const OLD_MASK = 'without_personal_data';

/** The permissions of a token. `mcp:read` combines the read scopes of customers, billing and servers. */
export const accessScope = pgEnum('access_scope', [
  'mcp:read',
  'payments:read',
  'payments:write',
  'customers:read',
  'billing:read',
  'servers:read',
  OLD_MASK,
]);

/** Static bearer tokens, issued by an admin or a command. Only the SHA-256 of a token's text is stored. */
export const accessTokens = pgTable('access_tokens', {
  id: id(),
  name: text().notNull(),
  /** SHA-256 of the complete token text, in lower-case hex. */
  token_hash: text().notNull().unique(),
  scopes: accessScope().array().notNull(),
  /** True if MCP responses mask the customers' personal data. */
  hides_personal_data: boolean().notNull().default(false),
  expires_at: instant(),
  last_used_at: instant(),
  revoked_at: instant(),
  created_by: text(),
  /**
   * E-mail address of the owner. Null if the token has no owner. Removing the owner revokes the token, but keeps this
   * value.
   */
  staff_email: text(),
  ...timestamps,
});

// Property names follow better-auth, and column names follow our convention.
const textId = () => text().primaryKey();
const times = {
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
};

export const staffUsers = pgTable('staff_users', {
  id: textId(),
  name: text().notNull(),
  email: text().notNull().unique(),
  emailVerified: boolean('email_verified').notNull().default(false),
  image: text(),
  role: staffRole().notNull().default('staff'),
  twoFactorEnabled: boolean('two_factor_enabled').notNull().default(false),
  /** True if the user must choose a new password at the next sign-in. */
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
    id: textId(),
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
    id: textId(),
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
    id: textId(),
    identifier: text().notNull(),
    value: text().notNull(),
    expiresAt: instant('expires_at').notNull(),
    ...times,
  },
  (t) => [index('staff_verifications_identifier').on(t.identifier)],
);

/** Authenticator apps. Their secrets and recovery codes are encrypted with the secret that signs the cookies. */
export const staffTwoFactors = pgTable('staff_two_factors', {
  id: textId(),
  userId: userId().unique(),
  secret: text().notNull(),
  backupCodes: text('backup_codes').notNull(),
  /** False until the owner has entered a code of the app once. */
  verified: boolean().notNull().default(false),
  failedVerificationCount: integer('failed_verification_count').notNull().default(0),
  lockedUntil: instant('locked_until'),
});

export const staffPasskeys = pgTable(
  'staff_passkeys',
  {
    id: textId(),
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

/**
 * Settings of staff access, in a single row. If the row is missing, every setting has its default. This is our table,
 * not better-auth's.
 */
export const staffSettings = pgTable('staff_settings', {
  id: integer().primaryKey(),
  two_factor_required: boolean().notNull().default(false),
  ...timestamps,
});

export const staffRateLimits = pgTable(
  'staff_rate_limits',
  {
    id: textId(),
    key: text().notNull().unique(),
    count: integer().notNull(),
    /** Time of the last request, in milliseconds since the epoch. */
    lastRequest: bigint('last_request', { mode: 'number' }).notNull(),
  },
  (t) => [index('staff_rate_limits_last').on(t.lastRequest)],
);

/** Counters of recent failed sign-ins. This is our table, not better-auth's. */
export const staffSignInFailures = pgTable(
  'staff_sign_in_failures',
  {
    /** SHA-256 of the typed e-mail address, even if no account has that address. */
    account: text().notNull(),
    /**
     * Origin of the attempts: a known device, a session in which the password was asked again, an IP address, an IPv6
     * network, or all unknown devices together.
     */
    origin: text().notNull(),
    failures: integer().notNull(),
    /** End of the waiting time. Until then, attempts are refused without checking the password or code. */
    wait_until: instant().notNull(),
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
  | 'reference_collides'
  | 'time_zone_changed'
  | 'payout_differs';

/** A decision that a person has to make and that no other row shows. A task is open until it is marked as done. */
export const staffTasks = pgTable(
  'staff_tasks',
  {
    id: id(),
    kind: text().$type<TaskKind>().notNull(),
    /** Key of the task within its kind. Reporting the same subject again does not create a second task. */
    subject: text().notNull(),
    /** A sentence for staff with numbers and amounts, but without personal data. */
    message: text().notNull(),
    /** Kind of the record that the task concerns. Null if our database has no such record. */
    entity: text().$type<'invoice' | 'payment' | 'payout'>(),
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

// better-auth's OAuth provider reads and writes all columns of its tables, even for features we do not use.
const texts = (name: string) => text(name).array();
const flag = (name: string) => boolean(name).default(false);

/** OAuth clients: added by an admin, identified by a metadata document, or self-registered. */
export const oauthClients = pgTable(
  'oauth_clients',
  {
    id: textId(),
    clientId: text('client_id').notNull().unique(),
    clientSecret: text('client_secret'),
    clientDiscoveryId: text('client_discovery_id'),
    disabled: flag('disabled'),
    skipConsent: boolean('skip_consent'),
    enableEndSession: boolean('enable_end_session'),
    subjectType: text('subject_type'),
    scopes: texts('scopes'),
    clientCredentialsScopes: texts('client_credentials_scopes'),
    userId: text('user_id').references(() => staffUsers.id, { onDelete: 'set null' }),
    ...times,
    name: text(),
    uri: text(),
    icon: text(),
    contacts: texts('contacts'),
    tos: text(),
    policy: text(),
    softwareId: text('software_id'),
    softwareVersion: text('software_version'),
    softwareStatement: text('software_statement'),
    redirectUris: texts('redirect_uris').notNull(),
    postLogoutRedirectUris: texts('post_logout_redirect_uris'),
    backchannelLogoutUri: text('backchannel_logout_uri'),
    backchannelLogoutSessionRequired: boolean('backchannel_logout_session_required'),
    tokenEndpointAuthMethod: text('token_endpoint_auth_method'),
    applicationType: text('application_type'),
    jwks: text(),
    jwksUri: text('jwks_uri'),
    grantTypes: texts('grant_types'),
    responseTypes: texts('response_types'),
    requirePKCE: boolean('require_pkce'),
    dpopBoundAccessTokens: flag('dpop_bound_access_tokens'),
    referenceId: text('reference_id'),
    metadata: jsonb(),
    /** Our column: `countedAddress` of a client that registered itself. Null for all other clients. */
    registeredFrom: text('registered_from'),
    /** Our column: time of the first authorization by a member of staff. Authorized clients are not cleaned up. */
    authorizedAt: instant('authorized_at'),
  },
  (t) => [
    index('oauth_clients_user').on(t.userId),
    index('oauth_clients_registered').on(t.registeredFrom, t.createdAt),
  ],
);

export const oauthResources = pgTable('oauth_resources', {
  id: textId(),
  identifier: text().notNull().unique(),
  name: text().notNull(),
  accessTokenTtl: integer('access_token_ttl'),
  refreshTokenTtl: integer('refresh_token_ttl'),
  signingAlgorithm: text('signing_algorithm'),
  signingKeyId: text('signing_key_id'),
  allowedScopes: texts('allowed_scopes'),
  customClaims: jsonb('custom_claims'),
  dpopBoundAccessTokensRequired: flag('dpop_bound_access_tokens_required'),
  disabled: flag('disabled'),
  ...times,
  policyVersion: integer('policy_version').default(1),
  metadata: jsonb(),
});

const clientId = () =>
  text('client_id')
    .notNull()
    .references(() => oauthClients.clientId, { onDelete: 'cascade' });

export const oauthClientResources = pgTable(
  'oauth_client_resources',
  {
    id: textId(),
    clientId: clientId(),
    resourceId: text('resource_id')
      .notNull()
      .references(() => oauthResources.identifier, { onDelete: 'cascade' }),
    metadata: jsonb(),
    createdAt: times.createdAt,
  },
  (t) => [
    uniqueIndex('oauth_client_resources_pair').on(t.clientId, t.resourceId),
    index('oauth_client_resources_resource').on(t.resourceId),
  ],
);

/** Columns of both access and refresh tokens. Only the SHA-256 of a token's text is stored. */
const tokenColumns = () => ({
  id: textId(),
  token: text().notNull().unique(),
  clientId: clientId(),
  sessionId: text('session_id').references(() => staffSessions.id, { onDelete: 'set null' }),
  userId: userId(),
  /** Id of the grant, equal to the `referenceId` of its consent. Null for old grants, which share one consent. */
  referenceId: text('reference_id'),
  authorizationCodeId: text('authorization_code_id'),
  resources: texts('resources'),
  requestedUserInfoClaims: texts('requested_user_info_claims'),
  expiresAt: instant('expires_at').notNull(),
  createdAt: times.createdAt,
  revoked: instant('revoked'),
  confirmation: jsonb(),
  scopes: texts('scopes').notNull(),
});

export const oauthRefreshTokens = pgTable(
  'oauth_refresh_tokens',
  {
    ...tokenColumns(),
    rotatedAt: instant('rotated_at'),
    rotationReplayResponse: text('rotation_replay_response'),
    rotationReplayExpiresAt: instant('rotation_replay_expires_at'),
    authTime: instant('auth_time'),
  },
  (t) => [
    index('oauth_refresh_tokens_client').on(t.clientId, t.userId),
    index('oauth_refresh_tokens_user').on(t.userId),
    index('oauth_refresh_tokens_session').on(t.sessionId),
    index('oauth_refresh_tokens_code').on(t.authorizationCodeId),
    index('oauth_refresh_tokens_reference').on(t.referenceId),
    index('oauth_refresh_tokens_end').on(t.expiresAt),
  ],
);

export const oauthAccessTokens = pgTable(
  'oauth_access_tokens',
  {
    ...tokenColumns(),
    refreshId: text('refresh_id').references(() => oauthRefreshTokens.id, { onDelete: 'cascade' }),
  },
  (t) => [
    index('oauth_access_tokens_client').on(t.clientId, t.userId),
    index('oauth_access_tokens_user').on(t.userId),
    index('oauth_access_tokens_session').on(t.sessionId),
    index('oauth_access_tokens_code').on(t.authorizationCodeId),
    index('oauth_access_tokens_reference').on(t.referenceId),
    index('oauth_access_tokens_refresh').on(t.refreshId),
    index('oauth_access_tokens_end').on(t.expiresAt),
  ],
);

/** Connected apps: the scopes that staff granted to a client. Each authorization has its own row, except old ones. */
export const oauthConsents = pgTable(
  'oauth_consents',
  {
    id: textId(),
    clientId: clientId(),
    userId: userId(),
    referenceId: text('reference_id'),
    resources: texts('resources'),
    requestedUserInfoClaims: texts('requested_user_info_claims'),
    scopes: texts('scopes').notNull(),
    /** Our column: true if MCP responses mask the customers' personal data. */
    hidesPersonalData: boolean('hides_personal_data').notNull().default(false),
    ...times,
  },
  (t) => [
    index('oauth_consents_client').on(t.clientId),
    index('oauth_consents_user').on(t.userId),
    uniqueIndex('oauth_consents_reference').on(t.referenceId),
  ],
);

export const oauthClientAssertions = pgTable('oauth_client_assertions', {
  id: textId(),
  expiresAt: instant('expires_at').notNull(),
});
