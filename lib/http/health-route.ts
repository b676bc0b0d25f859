import { checkHealth, down, type Health } from '../health/check-health';
import { runtimeOrNull } from '../runtime';
import { bearsCronSecret } from './cron-secret';

/** Tells anybody whether the service works, and whoever bears CRON_SECRET what is wrong. */
export async function answerHealth(request: Request): Promise<Response> {
  const runtime = await runtimeOrNull();
  const { alerts, ...told }: Health = runtime ? await checkHealth(runtime) : down();
  const mayKnow = runtime && bearsCronSecret(runtime.env, request);
  return Response.json(mayKnow && alerts ? { ...told, alerts } : told, {
    status: told.database === 'ok' ? 200 : 503,
    headers: { 'Cache-Control': 'no-store' },
  });
}
