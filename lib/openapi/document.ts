import manifest from '../../package.json';
import { readEnv } from '../env';
import { AppError } from '../errors';
import { health } from '../health/check-health';
import { cronAnswer, cronRefused } from '../http/cron-route';
import { liveness } from '../http/health-route';
import { type HttpRequest, jsonWithEtag, methodNotAllowed, type Route } from '../http/messages';
import { webhookAnswer, webhookError } from '../http/webhook-route';
import { documentPaths, paymentsPaths } from './payments-paths';
import { errorResponses, errors, HEADERS, inlineSchema, json, namedSchemas, ownErrors } from './responses';

/** Handlers of `/api/openapi.json`, which returns the OpenAPI description. */
export const openApiRoute: Route = { ...methodNotAllowed('GET, HEAD'), GET: describe, HEAD: describe };

/** Sends the OpenAPI description with a CORS header for any origin, so that tools in a browser can read it. */
async function describe(request: HttpRequest): Promise<Response> {
  const headers = { 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*' };
  return jsonWithEtag(request, openApiDocument(readEnv().publicUrl), { headers });
}

const DESCRIPTION = `
Payments are recorded by programs here. Requests carry an access token (\`Authorization: Bearer w5t_…\`) with the
scopes \`payments:read\` and \`payments:write\`; staff issue it, or \`npm run -s token -- create\`.

**Retries are safe.** A POST with a known \`payment_reference\` updates that payment, so no idempotency key is needed.

**Lost updates.** Every payment comes with an \`ETag\`. Send it back as \`If-Match\` with PUT, PATCH and DELETE. If the
payment has changed since, the answer is 412. With \`If-None-Match\`, a GET answers 304 while nothing has changed.

**Errors** are \`application/problem+json\` (RFC 9457). \`type\` names the kind of error, \`errors\` the fields that are
wrong. Unknown fields and parameters are refused. Every answer has an \`X-Request-Id\`: name it when you ask us.
An address answers other methods than its own with 405 and \`Allow\`; a body may have 1 MiB.
`.trim();

/**
 * Returns the OpenAPI 3.1 description of the HTTP API. Most of its schemas are generated from those that check requests
 * and responses.
 *
 * @param publicUrl the server's URL without a trailing slash
 */
export function openApiDocument(publicUrl: string) {
  return {
    openapi: '3.1.1',
    info: { title: 'W5T administration', version: manifest.version, description: DESCRIPTION },
    servers: [{ url: publicUrl }],
    tags: [
      { name: 'Payments', description: 'Payments and how they settle invoices.' },
      { name: 'Invoices', description: 'The documents of invoices and credit notes.' },
      { name: 'Stripe', description: 'How Stripe’s state reaches us.' },
      { name: 'Health', description: 'For probes.' },
    ],
    paths: { ...paymentsPaths, ...documentPaths, ...otherPaths },
    components: {
      schemas: namedSchemas(),
      responses: errorResponses(),
      headers: HEADERS,
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access token with the scope that the operation names.',
        },
        // Only the scheduler uses this scheme. Mark it as internal, so that API viewers do not ask for the secret.
        cronSecret: {
          type: 'http',
          scheme: 'bearer',
          description: 'The value of CRON_SECRET.',
          'x-internal': true,
        },
      },
    },
  };
}

const refusal = inlineSchema(webhookError);

/** The endpoints for Stripe, for the scheduler and for health checks. */
const otherPaths = {
  '/api/stripe/webhook': {
    post: {
      operationId: 'receiveStripeEvent',
      summary: 'Receive an event from Stripe',
      description: [
        'Called by Stripe. The signature is checked over the bytes of the body, at most 300 seconds after it was',
        'made. If the answer is not 2xx, Stripe delivers the event again. A repeated delivery has no second effect.',
      ].join(' '),
      tags: ['Stripe'],
      security: [],
      parameters: [
        {
          name: 'Stripe-Signature',
          in: 'header',
          required: true,
          description: 'https://docs.stripe.com/webhooks#verify-manually',
          schema: { type: 'string' },
          example: 't=1773135000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
        },
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              description: 'An event: https://docs.stripe.com/api/events/object',
              required: ['id', 'type', 'data'],
              properties: { id: { type: 'string' }, type: { type: 'string' }, data: { type: 'object' } },
            },
          },
        },
      },
      responses: {
        200: json('The event is kept.', inlineSchema(webhookAnswer), [], {
          received: true,
          outcome: 'processed',
        }),
        400: json('The signature or the payload is not valid.', refusal, [], { error: 'Invalid signature' }),
        413: json('The body is larger than 1 MiB.', refusal),
        500: json('The event failed, and is kept for Stripe’s next attempt.', refusal, [], {
          error: 'Internal error',
          ref: '0b9c8e4e-6d2f-4c1a-9f57-3c9d1e8a7b60',
        }),
        503: json('The service cannot start.', refusal, [], { error: 'Service unavailable' }),
        ...ownErrors(new AppError('method_not_allowed', 'GET is not allowed here.')),
      },
    },
  },
  '/api/cron/reconcile': {
    get: {
      operationId: 'reconcile',
      summary: 'Compare with Stripe what webhooks may have missed',
      description: 'Called once a day, at 03:40. Of two calls at once one runs, the other names its run.',
      tags: ['Stripe'],
      security: [{ cronSecret: [] }],
      responses: {
        200: json('The run has ended, or another is under way.', inlineSchema(cronAnswer)),
        ...errors('method_not_allowed', 'internal', 'unavailable'),
        ...ownErrors(cronRefused()),
      },
    },
  },
  '/api/health': {
    get: {
      operationId: 'checkHealth',
      summary: 'Whether the service and its database answer',
      tags: ['Health'],
      security: [],
      responses: {
        200: json(
          'The service answers. If the status is degraded, a person should look at the service.',
          inlineSchema(health),
        ),
        503: json('The database does not answer.', inlineSchema(health)),
        ...errors('method_not_allowed'),
      },
    },
  },
  '/api/health/live': {
    get: {
      operationId: 'checkLiveness',
      summary: 'Whether the process answers',
      description:
        'Does not ask the database. Restart the process if this fails; see /api/health for all else.',
      tags: ['Health'],
      security: [],
      responses: {
        200: json('The process answers.', inlineSchema(liveness)),
        ...errors('method_not_allowed'),
      },
    },
  },
};
