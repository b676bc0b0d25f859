import { boolean, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant } from '../columns';
import { staffUsers } from '../staff';
import { flag, id, texts } from './columns';

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
