import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../../env';
import { StartError } from '../../errors';

const FILE = 'better-auth-secret';
const MIN_LENGTH = 32;

/**
 * What signs the session cookies: BETTER_AUTH_SECRET, or one made once into DATA_DIR, readable by its
 * owner alone.
 *
 * @throws StartError when the file in DATA_DIR does not hold a secret
 */
export function staffSecret(
  env: Pick<Env, 'betterAuthSecret' | 'dataDir'>,
  randomBytes: (size: number) => Buffer,
): string {
  if (env.betterAuthSecret) return env.betterAuthSecret;
  const file = join(env.dataDir, FILE);
  const secret = readSecret(file) ?? writeSecret(env.dataDir, file, randomBytes(32).toString('base64url'));
  if (secret.length >= MIN_LENGTH) return secret;
  throw new StartError([
    `${file} holds fewer than ${MIN_LENGTH} characters: remove it, and a new one is made.`,
  ]);
}

function readSecret(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Renamed into place, so that a crash cannot leave half a secret. */
function writeSecret(dataDir: string, file: string, secret: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600 });
  renameSync(draft, file);
  return secret;
}
