import { AppError } from '@/lib/errors';
import { checkHealth, down } from '@/lib/health/check-health';
import { problemResponse } from '@/lib/http/problem';
import { getRuntime } from '@/lib/runtime';

export async function GET(): Promise<Response> {
  const runtime = await getRuntime().catch(() => null); // why was said when it was built
  const health = runtime ? await checkHealth(runtime) : down();
  return Response.json(health, {
    status: health.database === 'ok' ? 200 : 503,
    headers: { 'Cache-Control': 'no-store' },
  });
}

async function refuse(request: Request): Promise<Response> {
  const error = new AppError('method_not_allowed', `${request.method} is not allowed here.`);
  return problemResponse(error, { Allow: 'GET, HEAD' });
}

export { refuse as DELETE, refuse as PATCH, refuse as POST, refuse as PUT };
