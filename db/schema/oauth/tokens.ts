import { boolean, index, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { instant } from '../columns';
import { staffSessions, staffUsers } from '../staff';
import { oauthClients } from './clients';
import { id, texts } from './columns';

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
