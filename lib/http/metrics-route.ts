import { readEnv } from '../env';
import { AppError } from '../errors';
import { printMetrics } from '../metrics/metrics';
import { baseRuntime, runtimeOrError } from '../runtime';
import {
  answerUnknownPath,
  bearsSecret,
  type HttpRequest,
  methodNotAllowed,
  problemResponse,
  type Route,
} from './messages';

/** Handlers of `/metrics`. */
export const metricsRoute: Route = {
  ...methodNotAllowed('GET, HEAD'),
  GET: answerMetrics,
  HEAD: answerMetrics,
};

/**
 * Responds with the metrics of this process and of the database to a caller with METRICS_TOKEN. A local IP address is
 * not enough, because all requests through a proxy on this machine have one.
 */
async function answerMetrics(request: HttpRequest): Promise<Response> {
  const runtime = await runtimeOrError();
  // If the service cannot start, report the metrics of the process, and report the database as down.
  const { env, ...world } =
    runtime instanceof AppError
      ? { ...baseRuntime({ logLevel: 'error' }), env: readEnv(['METRICS_TOKEN']), db: null }
      : runtime;
  if (env.metricsToken === null) return answerUnknownPath();
  if (!bearsSecret(env.metricsToken, request)) {
    const advice = 'Send METRICS_TOKEN as "Authorization: Bearer <METRICS_TOKEN>".';
    return problemResponse(new AppError('unauthenticated', advice), { 'WWW-Authenticate': 'Bearer' });
  }
  const { text, contentType } = await printMetrics(world);
  return new Response(text, { headers: { 'Content-Type': contentType, 'Cache-Control': 'no-store' } });
}
