import { perProcess } from '@/db/per-process';
import { AppError, NotMigratedError } from '../errors';
import { checkHealth, down, type Health } from '../health/check-health';
import { builtRuntime, explainFailure, type Runtime, runtimeOrError, worldOf } from '../runtime';
import { isStopping } from '../stopping';
import { bearsCronSecret, type HttpRequest, methodNotAllowed, type Route } from './messages';

/** Anybody may ask, so that the database is looked at no more often than this, in milliseconds. */
const PROBE_MS = 10_000;

interface Probe {
  at: number;
  health: Promise<Health>;
}

/** The last of each runtime, and of a service without one. */
const probes = perProcess('probes', () => new WeakMap<object, Probe>());
const WITHOUT_RUNTIME = worldOf({ logLevel: 'silent' });

/** `/api/health` */
export const healthRoute: Route = { ...methodNotAllowed('GET, HEAD'), GET: answerHealth, HEAD: answerHealth };

/** Answers every caller whether the service works, and explains each cause to a caller with CRON_SECRET. */
async function answerHealth(request: HttpRequest): Promise<Response> {
  const runtime = await builtRuntime();
  const found = isStopping() ? down('ok') : await lastProbe(runtime ?? WITHOUT_RUNTIME);
  const { alerts, ...told } = found;
  const mayKnow = alerts && runtime && bearsCronSecret(runtime.env, request);
  return Response.json(mayKnow ? { ...told, alerts } : told, {
    status: told.status === 'down' ? 503 : 200,
    headers: { 'Cache-Control': 'no-store' },
  });
}

/** Callers that ask while a probe runs wait for that probe. */
function lastProbe(world: Pick<Runtime, 'now'>): Promise<Health> {
  const now = world.now().getTime();
  const last = probes.get(world);
  if (last && Math.abs(now - last.at) < PROBE_MS) return last.health;
  const health = probe();
  probes.set(world, { at: now, health });
  return health;
}

async function probe(): Promise<Health> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) {
    return down(runtime.cause instanceof NotMigratedError ? 'not_migrated' : 'unreachable');
  }
  const health = await checkHealth(runtime);
  const isBehind = health.database !== 'ok' && (await explainFailure(runtime, null)) !== null;
  return isBehind ? down('not_migrated') : health;
}
