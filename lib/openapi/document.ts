import manifest from '@/package.json';
import { otherPaths } from './other-paths';
import { paymentsPaths } from './payments-paths';
import { errorResponses, HEADERS } from './responses';
import { namedSchemas } from './schemas';

const DESCRIPTION = `
Payments are recorded by programs here. Requests carry an access token (\`Authorization: Bearer w5t_…\`) with the
scopes \`payments:read\` and \`payments:write\`; staff issue it, or \`npm run -s token -- create\`.

**Retries are safe.** A POST with a known \`payment_reference\` updates that payment, so no idempotency key is needed.

**Lost updates.** Every payment comes with an \`ETag\`. Send it back as \`If-Match\` with PUT, PATCH and DELETE: where
somebody was quicker the answer is 412. With \`If-None-Match\` a GET answers 304 while nothing has changed.

**Errors** are \`application/problem+json\` (RFC 9457). \`type\` names the kind of error, \`errors\` the fields that are
wrong. Unknown fields and parameters are refused. Every answer has an \`X-Request-Id\`: name it when you ask us.
An address answers other methods than its own with 405 and \`Allow\`; a body may have 1 MiB.
`.trim();

/**
 * The OpenAPI 3.1 description of the HTTP API, from the schemas that check its requests and answers.
 *
 * @param publicUrl without a trailing slash
 */
export function openApiDocument(publicUrl: string) {
  return {
    openapi: '3.1.1',
    info: { title: 'W5T administration', version: manifest.version, description: DESCRIPTION },
    servers: [{ url: publicUrl }],
    tags: [
      { name: 'Payments', description: 'Payments and how they settle invoices.' },
      { name: 'Stripe', description: 'How Stripe’s state reaches us.' },
      { name: 'Health', description: 'For probes.' },
    ],
    paths: { ...paymentsPaths, ...otherPaths },
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
        // The scheduler's alone: no page asks people for it.
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
