import { z } from 'zod';
import { perProcess } from '@/db/per-process';
import manifest from '../../package.json';
import { AppError, NotMigratedError } from '../errors';
import { checkHealth, type Health, healthOfOutage } from '../health/check-health';
import { baseRuntime, builtRuntime, explainFailure, type Runtime, runtimeOrError } from '../runtime';
import { isStopping } from '../stopping';
import { bearsCronSecret, type HttpRequest, methodNotAllowed, type Route, uncachedJson } from './messages';

/**
 * Minimum time between two probes of the database, in milliseconds. It limits the load, because anyone may call the
 * endpoint.
 */
const PROBE_MS = 10_000;

interface Probe {
  at: number;
  health: Promise<Health>;
}

/** The last probe of each runtime. `WITHOUT_RUNTIME` is the key while no runtime is built. */
const probes = perProcess('probes', () => new WeakMap<object, Probe>());
const WITHOUT_RUNTIME = baseRuntime({ logLevel: 'silent' });

/** Handlers of `/api/health`. */
export const healthRoute: Route = { ...methodNotAllowed('GET, HEAD'), GET: answerHealth, HEAD: answerHealth };

/** The response body of `/api/health/live`. */
export const liveness = z.object({ status: z.literal('ok'), version: z.string() });

/** Handlers of `/api/health/live`. */
export const livenessRoute: Route = { ...methodNotAllowed('GET, HEAD'), GET: answerLive, HEAD: answerLive };

/**
 * Responds with 200 without querying the database. If a liveness check fails, this process is restarted, and a restart
 * would not repair a database.
 */
function answerLive(): Response {
  return uncachedJson(liveness.parse({ status: 'ok', version: manifest.version }));
}

/**
 * Responds with the service's health. The status is 503 if the service is down or stopping. Otherwise callers with
 * CRON_SECRET also get the alerts.
 */
async function answerHealth(request: HttpRequest): Promise<Response> {
  const runtime = await builtRuntime();
  const found = isStopping() ? healthOfOutage('ok') : await lastProbe(runtime ?? WITHOUT_RUNTIME);
  const { alerts, ...publicHealth } = found;
  const mayKnow = alerts && runtime && bearsCronSecret(runtime.env, request);
  return uncachedJson(
    mayKnow ? { ...publicHealth, alerts } : publicHealth,
    publicHealth.status === 'down' ? 503 : 200,
  );
}

/** Returns the health of the last probe, or probes again after `PROBE_MS`. Concurrent callers share one probe. */
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
    return healthOfOutage(runtime.cause instanceof NotMigratedError ? 'not_migrated' : 'unreachable');
  }
  const health = await checkHealth(runtime);
  const isBehind = health.database !== 'ok' && (await explainFailure(runtime, null)) !== null;
  return isBehind ? healthOfOutage('not_migrated') : health;
}
