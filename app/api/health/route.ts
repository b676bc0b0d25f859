import { checkHealth, down, type Health } from '@/lib/health/check-health';
import { methodNotAllowed } from '@/lib/http/method-not-allowed';
import { getRuntime } from '@/lib/runtime';

export async function GET(): Promise<Response> {
  const health = await ask();
  return Response.json(health, {
    status: health.database === 'ok' ? 200 : 503,
    headers: { 'Cache-Control': 'no-store' },
  });
}

async function ask(): Promise<Health> {
  try {
    return await checkHealth(await getRuntime());
  } catch {
    return down(); // why was said when the runtime was built
  }
}

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD');
