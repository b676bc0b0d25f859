import { DrizzleQueryError } from 'drizzle-orm';
import { isDatabaseUnavailable, isDiskFullError, pgErrorCode } from '@/db/database';
import { StartError } from '../errors';

/**
 * An error in sentences for the user of a command. A driver's message holds the query's parameters, that is, personal
 * data, so only its code is printed.
 */
export function sentencesOf(error: unknown): string[] {
  if (error instanceof StartError) return error.sentences;
  if (isDiskFullError(error)) return ['The disk of the database is full: make room, and try again.'];
  if (isDatabaseUnavailable(error))
    return ['The database does not answer: start it, or correct its address.'];
  const code = pgErrorCode(error);
  if (error instanceof DrizzleQueryError) return [`A database query failed${code ? ` (${code})` : ''}.`];
  return [error instanceof Error ? error.message : String(error)];
}
