import { checkHealth, down } from '@/lib/health/check-health';
import { methodNotAllowed } from '@/lib/http/method-not-allowed';
import { getRuntime } from '@/lib/runtime';

export async function GET(): Promise<Response> {
  const runtime = await getRuntime().catch(() => null); // why was said when it was built
  const health = runtime ? await checkHealth(runtime) : down();
  return Response.json(health, {
    status: health.database === 'ok' ? 200 : 503,
    headers: { 'Cache-Control': 'no-store' },
  });
}

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD');
