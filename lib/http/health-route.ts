import { AppError, isNotMigrated } from '../errors';
import { checkHealth, down, type Health } from '../health/check-health';
import { explainFailure, runtimeOrError } from '../runtime';
import { bearsCronSecret } from './cron-secret';

/** Tells anybody whether the service works, and whoever bears CRON_SECRET what is wrong. */
export async function answerHealth(request: Request): Promise<Response> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) {
    return answer(down(isNotMigrated(runtime.cause) ? 'not_migrated' : 'unreachable'));
  }
  const { alerts, ...told } = await checkHealth(runtime);
  if (told.database !== 'ok' && (await explainFailure(runtime, null))) return answer(down('not_migrated'));
  return answer(alerts && bearsCronSecret(runtime.env, request) ? { ...told, alerts } : told);
}

function answer(health: Health): Response {
  return Response.json(health, {
    status: health.database === 'ok' ? 200 : 503,
    headers: { 'Cache-Control': 'no-store' },
  });
}
