import type { Database } from '@/db/database';
import { perProcess } from '@/db/per-process';
import { type AccessToken, hashToken, verifyAccessToken } from './access-token';

interface Verification {
  /** The token as it was when it was valid lately; null: nobody knows it. */
  expected: AccessToken | null;
  verified: Promise<AccessToken | null>;
}

const LATELY_MS = 5 * 60_000;
const MOST = 1000;

/** By the database and the hash. */
const valid = perProcess('valid tokens', () => new WeakMap<Database, Map<string, [AccessToken, Date]>>());

/**
 * Asks whether a token is valid, as `verifyAccessToken` does. Who brings one that was so lately most likely still may:
 * reading for them can begin at once, so that it costs no round trip of its own. Nothing is answered before `verified`.
 */
export function beginVerification(db: Database, text: string, now: Date): Verification {
  const tokens = valid.get(db) ?? new Map<string, [AccessToken, Date]>();
  valid.set(db, tokens);
  const hash = hashToken(text);
  const [expected, at] = tokens.get(hash) ?? [];
  const isLately = at !== undefined && now.getTime() - at.getTime() < LATELY_MS;
  const verified = verifyAccessToken(db, text, now).then((token) => {
    tokens.delete(hash);
    if (token) keep(tokens, hash, [token, now]);
    return token;
  });
  return { expected: isLately && expected ? expected : null, verified };
}

function keep<Value>(values: Map<string, Value>, key: string, value: Value): void {
  values.set(key, value);
  const [oldest] = values.keys();
  if (values.size > MOST && oldest !== undefined) values.delete(oldest);
}
