import { isIP } from 'node:net';
import { isPublicAddress } from '@/lib/oauth/discover-client';
import { endTrialToken, removeTrialClient } from '@/lib/oauth/own-clients';
import type { Runtime } from '@/lib/runtime';
import {
  authorize,
  checkChallenge,
  checkResource,
  checkServer,
  listTools,
  reasonOf,
  register,
  requestToken,
  sendFirstRequest,
  type Trial,
} from './check-steps';
import { CLIENTS, type ClientTraits } from './clients';

export type ConnectionReport = Awaited<ReturnType<typeof checkConnection>>;

const COMMON = [checkChallenge, checkResource, checkServer];
const STEPS: [name: string, step: (trial: Trial) => Promise<string | null>][] = [
  ['Reach', checkReach],
  ['Challenge', checkChallenge],
  ['Metadata', async (trial) => (await checkResource(trial)) ?? checkServer(trial)],
  ['Registration', register],
  ['Sign-in', authorize],
  ['Token', requestToken],
  ['Start', sendFirstRequest],
  ['Tools', listTools],
];
/**
 * The User-Agent of checks whose failure affects every client. No real client uses it, so a proxy that blocks certain
 * clients lets it pass.
 */
const NEUTRAL = { userAgent: 'w5t-connection-check' };

/**
 * Checks whether each kind of client can connect through the public URL. The trial of a client runs up to the sign-in
 * page, then continues with a token that is valid for a minute. It stops at its first failure.
 *
 * @param userId the member of staff who runs the check
 * @returns the problem that affects every client; if it is null, the result of each client
 */
export async function checkConnection(runtime: Runtime, userId: string) {
  for (const step of COMMON) {
    const problem = await step({ runtime, traits: NEUTRAL }).catch(unreachable);
    if (problem !== null) return { problem, clients: [] };
  }
  const clients = await Promise.all(CLIENTS.map((traits) => checkClient({ runtime, traits, userId })));
  return { problem: null, clients };
}

/**
 * Runs the trial of one client. @returns the steps taken, and a sentence that describes the problem or how the client
 * connects
 */
async function checkClient(trial: Trial) {
  const { name } = trial.traits;
  const steps: { name: string; works: boolean }[] = [];
  try {
    for (const [step, check] of STEPS) {
      const problem = await check(trial).catch(unreachable);
      steps.push({ name: step, works: problem === null });
      if (problem !== null) return { name, works: false, sentence: withBlocked(trial, step, problem), steps };
    }
    return { name, works: true, sentence: howItConnects(trial.traits), steps };
  } finally {
    await cleanUp(trial);
  }
}

/** Adds advice to allow the client's User-Agent if the step that failed had passed for `NEUTRAL`. */
function withBlocked({ traits }: Trial, step: string, problem: string): string {
  if (step !== 'Challenge' && step !== 'Metadata') return problem;
  return `${problem} A proxy or firewall blocks requests from “${traits.userAgent}”: allow this User-Agent there.`;
}

/** Checks whether a client that runs on its vendor's servers can reach this service. */
async function checkReach({ runtime, traits }: Trial): Promise<string | null> {
  const { publicUrl } = runtime.env;
  const { protocol, hostname } = new URL(publicUrl);
  const host = hostname.replace(/^\[|\]$/g, '');
  const isPublic = isIP(host) === 0 ? host !== 'localhost' : isPublicAddress(host);
  if (!traits.isHosted || (protocol === 'https:' && isPublic)) return null;
  return `It calls from its vendor's servers, which cannot reach ${publicUrl}: it needs a public https URL.`;
}

function howItConnects({ registers }: ClientTraits): string {
  if (registers === 'by hand') return 'It can connect once an admin has registered it.';
  if (registers === 'itself') return 'It can connect, and registers itself.';
  return 'It can connect, and identifies itself by its metadata document.';
}

function unreachable(error: unknown): string {
  if (error instanceof SyntaxError) return 'A proxy or firewall answers with a page instead of this service.';
  return `This server cannot reach the address: ${reasonOf(error)}.`;
}

/**
 * Deletes the trial's token, and the client if the trial created it. A client with a metadata document stays, because
 * the real client may be in use. If it is never authorized, it is deleted after an hour anyway.
 */
async function cleanUp({ runtime, clientId, isMade, token }: Trial): Promise<void> {
  if (token !== undefined) await endTrialToken(runtime.db, token);
  if (clientId !== undefined && isMade) await removeTrialClient(runtime.db, clientId);
}
