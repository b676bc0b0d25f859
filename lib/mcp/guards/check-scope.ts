import { z } from 'zod';
import type { Env } from '@/lib/env';
import { READ_SCOPES } from '@/lib/oauth/scopes';
import type { Caller } from '../caller';
import { TOOLS } from '../tools';
import { insufficientScope } from './authenticate';

const call = z.looseObject({ method: z.literal('tools/call'), params: z.looseObject({ name: z.string() }) });

/** @returns 403 for a tool that the caller's scopes do not reach, naming those it has and the one it needs */
export function checkScope(env: Pick<Env, 'publicUrl'>, caller: Caller, message: unknown): Response | null {
  if (caller.reads.length === READ_SCOPES.length) return null;
  const name = call.safeParse(message).data?.params.name;
  const tool = TOOLS.find((one) => one.name === name);
  if (!tool || caller.reads.includes(tool.scope)) return null;
  return insufficientScope(env, [...caller.reads, tool.scope]);
}
