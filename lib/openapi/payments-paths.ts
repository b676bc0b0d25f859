import { paymentFilters } from '../payments/schema';
import { empty, errors, json, type Responses } from './responses';
import { queryParameters, schemaRef } from './schemas';

const COLLECTION = '/api/w5t/payments';
const ETAGGED = ['X-Request-Id', 'ETag'];

const payment = { $ref: schemaRef('Payment') };
const ifMatch = header('If-Match', 'The ETag of the state that is to be replaced; another one answers 412.');

export const paymentsPaths = {
  [COLLECTION]: {
    get: {
      ...operation('listPayments', 'List payments', 'payments:read'),
      description: 'The newest first: by payment_date, then by id. A page past the end is empty.',
      parameters: queryParameters(paymentFilters.shape),
      responses: {
        200: json('A page of payments.', { $ref: schemaRef('PaymentPage') }, ['X-Request-Id', 'Link']),
        ...failures('validation_failed'),
      },
    },
    post: {
      ...operation(
        'recordPayment',
        'Create a payment, or update the one of this reference',
        'payments:write',
      ),
      description: [
        'Safe to repeat: a payment with the same `payment_reference` is updated instead of created, and the same',
        'body again changes nothing. Of any number of requests at once with one new reference, one creates.',
        'Completed payments settle the invoice, unless Stripe manages it.',
      ].join(' '),
      parameters: [
        header('If-Match', 'Only changes the state of this ETag; another one, or no payment, answers 412.'),
        header('If-None-Match', '`*` only creates: a known reference answers 412.'),
      ],
      requestBody: body('PaymentInput'),
      responses: {
        200: json('The payment was there already, and is as the body says.', payment, ETAGGED),
        201: json('The payment is created.', payment, [...ETAGGED, 'Location']),
        ...bodyFailures('precondition_failed'),
      },
    },
  },
  [`${COLLECTION}/{id}`]: {
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 }, example: 1 },
    ],
    get: {
      ...operation('getPayment', 'Read one payment', 'payments:read'),
      parameters: [header('If-None-Match', 'An ETag that you hold; while it is right the answer is 304.')],
      responses: {
        200: json('The payment.', payment, ETAGGED),
        304: empty('You hold this state already.', ETAGGED),
        ...failures('not_found', 'validation_failed'),
      },
    },
    put: update(
      'replacePayment',
      'Update a payment',
      'The same as PATCH: fields left out stay as they are. Takes the body of a GET back.',
    ),
    patch: update('updatePayment', 'Update a payment', 'Any of the fields, at least one.'),
    delete: {
      ...operation('deletePayment', 'Delete a payment', 'payments:write'),
      description: 'Settles the invoice again. What was deleted stays in the audit log.',
      parameters: [ifMatch],
      responses: {
        204: empty('The payment is deleted.', ['X-Request-Id']),
        ...failures('not_found', 'precondition_failed', 'validation_failed'),
      },
    },
  },
};

function update(operationId: string, summary: string, description: string) {
  return {
    ...operation(operationId, summary, 'payments:write'),
    description,
    parameters: [ifMatch],
    requestBody: body('PaymentChanges', { status: 'refunded' }),
    responses: {
      200: json('The payment as it is now.', payment, ETAGGED),
      ...bodyFailures('not_found', 'conflict', 'precondition_failed'),
    },
  };
}

function operation(operationId: string, summary: string, scope: string) {
  return { operationId, summary, tags: ['Payments'], security: [{ accessToken: [scope] }] };
}

function body(schema: string, example?: unknown) {
  const content = { schema: { $ref: schemaRef(schema) }, ...(example !== undefined && { example }) };
  return { required: true, content: { 'application/json': content } };
}

function header(name: string, description: string) {
  return { name, in: 'header', description, schema: { type: 'string' } };
}

function bodyFailures(...codes: Parameters<typeof errors>): Responses {
  return failures(
    'malformed_json',
    'payload_too_large',
    'unsupported_media_type',
    'validation_failed',
    ...codes,
  );
}

function failures(...codes: Parameters<typeof errors>): Responses {
  return errors('unauthenticated', 'forbidden', 'method_not_allowed', 'internal', 'unavailable', ...codes);
}
