import { AppError } from '../errors';
import { health } from '../health/check-health';
import { cronAnswer, cronRefused } from '../http/cron-route';
import { webhookAnswer, webhookError } from '../http/webhook-route';
import { errors, json, ownErrors } from './responses';
import { inlineSchema } from './schemas';

const refusal = inlineSchema(webhookError);

/** The doors of Stripe, of the scheduler and of probes. */
export const otherPaths = {
  '/api/stripe/webhook': {
    post: {
      operationId: 'receiveStripeEvent',
      summary: 'Receive an event from Stripe',
      description: [
        'Called by Stripe. The signature is checked over the bytes of the body, at most 300 seconds after it was',
        'made. Whatever is not answered 2xx is delivered again by Stripe; a repeated delivery has no second effect.',
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
        200: json('It answers; degraded: somebody should look.', inlineSchema(health)),
        503: json('The database does not answer.', inlineSchema(health)),
        ...errors('method_not_allowed'),
      },
    },
  },
};
