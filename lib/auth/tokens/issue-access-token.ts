import { z } from 'zod';
import type { Actor } from '../../audit/audit-log';
import { addDays, startOfDay, toCalendarDate } from '../../dates';
import { AppError } from '../../errors';
import type { Runtime } from '../../runtime';
import { SCOPES } from './access-token';
import { createAccessToken } from './manage-access-tokens';

/** Days that a token may last; else for ever, or to a day. */
export const TOKEN_DAYS = ['30', '90', '365'] as const;
const MAX_NAME_LENGTH = 100;
const MAX_DAYS = 3650;
const DAY_MS = 86_400_000;

export interface TypedToken {
  name: string;
  scopes: string[];
  hides_personal_data: boolean;
  /** One of `TOKEN_DAYS`, `never` or `date`. */
  expires: string;
  /** With `date`, the last day on which the token is valid: YYYY-MM-DD. */
  last_day: string;
  /** The member of staff that the token belongs to, or empty. */
  staff_email: string;
}

type World = Pick<Runtime, 'db' | 'env' | 'now' | 'randomBytes'>;

const typedToken = z.object({
  name: z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(MAX_NAME_LENGTH, `must have at most ${MAX_NAME_LENGTH} characters`),
  scopes: z.array(z.enum(SCOPES, 'is not one of the list')).min(1, 'must be one at least'),
  expires: z.enum([...TOKEN_DAYS, 'never', 'date'], 'must be one of the list'),
});

/**
 * Makes an access token as a person asks for it.
 *
 * @returns its text, which is shown once and kept nowhere
 * @throws AppError validation_failed naming the fields
 */
export async function issueAccessToken(
  world: World,
  actor: Actor,
  typed: TypedToken,
): Promise<{ id: number; name: string; token: string }> {
  const parsed = typedToken.safeParse(typed);
  const problems = (parsed.error?.issues ?? []).map(({ path, message }) => ({
    field: String(path[0]),
    message,
  }));
  const expires_at = expiryOf(world, typed);
  if (typeof expires_at === 'string') problems.push({ field: 'last_day', message: expires_at });
  if (!parsed.success || typeof expires_at === 'string') {
    throw new AppError('validation_failed', 'The token is not complete.', problems);
  }
  const { name } = parsed.data;
  const scopes = SCOPES.filter((scope) => parsed.data.scopes.includes(scope));
  const staff_email = typed.staff_email.trim() || undefined;
  const { hides_personal_data } = typed;
  const input = { name, scopes, hides_personal_data, expires_at, staff_email, created_by: actor };
  return { name, ...(await createAccessToken(world.db, input, world.randomBytes)) };
}

/** Text: what is wrong with the day. */
function expiryOf({ now, env }: World, { expires, last_day }: TypedToken): Date | null | string {
  if (expires === 'never') return null;
  if (expires !== 'date') return new Date(now().getTime() + Number(expires) * DAY_MS);
  const today = toCalendarDate(now(), env.timeZone);
  if (!z.iso.date().safeParse(last_day).success) return 'must be a date';
  if (last_day < today) return 'must not be in the past';
  if (last_day > addDays(today, MAX_DAYS)) return 'must be within ten years';
  return startOfDay(addDays(last_day, 1), env.timeZone);
}
