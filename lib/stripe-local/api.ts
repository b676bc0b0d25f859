import type { IncomingMessage } from 'node:http';
import Stripe from 'stripe';
import { authorize } from './authorize';
import { ENDPOINTS } from './endpoints';
import { ApiError } from './errors';
import type { Answer } from './respond';
import type { World } from './world';

interface ApiOptions {
  world: World;
  secretKey: string;
  /** The SDK's own unless given. */
  apiVersion?: string;
}

/** What the API answers to a request, without any fault. */
export function answerRequest(options: ApiOptions, req: IncomingMessage, url: URL): Answer {
  try {
    const version = options.apiVersion ?? Stripe.API_VERSION;
    authorize(req, options.secretKey);
    requireVersion(req, version);
    const { endpoint, id } = route(req.method ?? 'GET', url.pathname);
    return { status: 200, body: endpoint({ world: options.world, version }, id, url.searchParams) };
  } catch (error) {
    if (error instanceof ApiError) return errorAnswer(error);
    throw error;
  }
}

function requireVersion(req: IncomingMessage, version: string): void {
  const given = req.headers['stripe-version'];
  if (given === version) return;
  throw new ApiError(
    400,
    `Invalid Stripe API version: ${given ?? 'none'}. This local Stripe speaks ${version}.`,
  );
}

function route(method: string, path: string) {
  const parts = path.split('/');
  for (const [pattern, endpoint] of Object.entries(ENDPOINTS)) {
    const wanted = pattern.split('/');
    const fits =
      wanted.length === parts.length && wanted.every((part, i) => part === ':id' || part === parts[i]);
    if (method === 'GET' && fits) return { endpoint, id: parts[wanted.indexOf(':id')] ?? '' };
  }
  throw new ApiError(404, `Unrecognized request URL (${method}: ${path}).`);
}

export function errorAnswer(error: ApiError): Answer {
  return { status: error.status, body: error.body() };
}
