import { DrizzleQueryError } from 'drizzle-orm';
import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { StartError } from '../errors';

/**
 * Runs a command and ends the process: a database that is still open would keep it alive.
 * An error is one sentence a line on stderr and exit code 1. A command that fails without an error
 * sets `process.exitCode`.
 */
export function runCommand(main: () => Promise<void>): void {
  main()
    .catch((error: unknown) => {
      process.exitCode = 1;
      for (const sentence of sentencesOf(error)) console.error(sentence);
    })
    .finally(() => {
      // Output to a pipe may still be on its way, and exit drops it.
      process.stdout.write('', () => process.stderr.write('', () => process.exit()));
    });
}

/** A driver's message holds the query's parameters, that is, personal data: only its code is told. */
function sentencesOf(error: unknown): string[] {
  if (error instanceof StartError) return error.sentences;
  if (isDatabaseUnavailable(error))
    return ['The database does not answer: start it, or correct its address.'];
  const code = pgErrorCode(error);
  if (error instanceof DrizzleQueryError) return [`A database query failed${code ? ` (${code})` : ''}.`];
  return [error instanceof Error ? error.message : String(error)];
}
