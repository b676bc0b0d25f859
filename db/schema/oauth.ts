import { boolean, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant } from './columns';
import { staffSessions, staffUsers } from './staff';

// As in staff.ts the property names are better-auth's own. It reads and writes every column that its
// provider knows, also those of features that are off here.
const id = () => text().primaryKey();
const texts = (name: string) => text(name).array();
const flag = (name: string) => boolean(name).default(false);

/** Programs that sign staff in: by the hand of an admin, by their metadata document, or registered by themselves. */
export const oauthClients = pgTable(
  'oauth_clients',
  {
    id: id(),
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
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
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
    /** Ours: the counted address that registered it; null for clients that did not do so themselves. */
    registeredFrom: text('registered_from'),
    /** Ours: when a member of staff first let it in. From then on it is kept. */
    authorizedAt: instant('authorized_at'),
  },
  (t) => [
    index('oauth_clients_user').on(t.userId),
    index('oauth_clients_registered').on(t.registeredFrom, t.createdAt),
  ],
);

export const oauthResources = pgTable('oauth_resources', {
  id: id(),
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
  createdAt: instant('created_at').notNull().defaultNow(),
  updatedAt: instant('updated_at').notNull().defaultNow(),
  policyVersion: integer('policy_version').default(1),
  metadata: jsonb(),
});

export const oauthClientResources = pgTable(
  'oauth_client_resources',
  {
    id: id(),
    clientId: text('client_id')
      .notNull()
      .references(() => oauthClients.clientId, { onDelete: 'cascade' }),
    resourceId: text('resource_id')
      .notNull()
      .references(() => oauthResources.identifier, { onDelete: 'cascade' }),
    metadata: jsonb(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('oauth_client_resources_pair').on(t.clientId, t.resourceId),
    index('oauth_client_resources_resource').on(t.resourceId),
  ],
);

const clientId = () =>
  text('client_id')
    .notNull()
    .references(() => oauthClients.clientId, { onDelete: 'cascade' });

const userId = () =>
  text('user_id')
    .notNull()
    .references(() => staffUsers.id, { onDelete: 'cascade' });

/** What both kinds of token are. Of their texts only the SHA-256 is kept. */
const tokenColumns = () => ({
  id: id(),
  token: text().notNull().unique(),
  clientId: clientId(),
  sessionId: text('session_id').references(() => staffSessions.id, { onDelete: 'set null' }),
  userId: userId(),
  /** Of the grant: the consent that has the same. Null for grants of before, which share one consent. */
  referenceId: text('reference_id'),
  authorizationCodeId: text('authorization_code_id'),
  resources: texts('resources'),
  requestedUserInfoClaims: texts('requested_user_info_claims'),
  expiresAt: instant('expires_at').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
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

/**
 * What a member of staff has let a client read, each time that they let it in: the connected apps. A client that is
 * the same on several devices has a consent for each.
 */
export const oauthConsents = pgTable(
  'oauth_consents',
  {
    id: id(),
    clientId: clientId(),
    userId: userId(),
    referenceId: text('reference_id'),
    resources: texts('resources'),
    requestedUserInfoClaims: texts('requested_user_info_claims'),
    scopes: texts('scopes').notNull(),
    /** Ours: answers leave out who customers are. */
    hidesPersonalData: boolean('hides_personal_data').notNull().default(false),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    index('oauth_consents_client').on(t.clientId),
    index('oauth_consents_user').on(t.userId),
    uniqueIndex('oauth_consents_reference').on(t.referenceId),
  ],
);

export const oauthClientAssertions = pgTable('oauth_client_assertions', {
  id: id(),
  expiresAt: instant('expires_at').notNull(),
});
