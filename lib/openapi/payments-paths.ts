import { AppError } from '../errors';
import { MAX_PER_PAGE } from '../page';
import { paymentFilters } from '../payments/schema';
import {
  empty,
  errors,
  headerRefs as headersOf,
  json,
  ownErrors,
  queryParameters,
  type Responses,
  schemaRef,
} from './responses';

/** Example of a request body with a complete payment. */
const PAYMENT_BODY = {
  invoice_id: 1,
  customer_id: 1,
  amount: 119,
  payment_date: '2026-03-10',
  payment_reference: 'BANK-2026-0310',
};

const COLLECTION = '/api/w5t/payments';
const ITEM = `${COLLECTION}/{id}`;
const ETAGGED = ['X-Request-Id', 'ETag'];

const LACKS_READ = new AppError('forbidden', 'This access token lacks the scope payments:read.');
const NOT_ON_COLLECTION = new AppError('method_not_allowed', 'DELETE is not allowed here.');
const WRONG_QUERY = new AppError('validation_failed', 'The query is not valid.', [
  { field: 'per_page', message: `must be at most ${MAX_PER_PAGE}` },
]);
const UNKNOWN_PARAMETER = new AppError('validation_failed', 'The query is not valid.', [
  { field: 'expand', message: 'is not known' },
]);

const payment = { $ref: schemaRef('Payment') };
const written = { $ref: schemaRef('WrittenPayment') };
const ifMatch = header('If-Match', 'The ETag of the state that is to be replaced; another one answers 412.');

export const paymentsPaths = {
  [COLLECTION]: {
    get: {
      ...operation('listPayments', 'List payments', 'payments:read'),
      description: 'The newest first: by payment_date, then by id. A page past the end is empty.',
      parameters: queryParameters(paymentFilters.shape),
      responses: {
        200: json('A page of payments.', { $ref: schemaRef('PaymentPage') }, ['X-Request-Id', 'Link']),
        ...failures(),
        ...ownErrors(LACKS_READ, NOT_ON_COLLECTION, WRONG_QUERY),
      },
      ...codeSamples('GET', `${COLLECTION}?status=completed&per_page=10`),
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
        'Completed payments settle the invoice, unless Stripe manages it. A reference that is the id of a payment',
        'intent or charge stands for money at Stripe. If Stripe has reported this money, the answer is 409 and names',
        'the payment that counts it. Otherwise, Stripe’s later report creates no second payment.',
      ].join(' '),
      parameters: [
        header('If-Match', 'Only changes the state of this ETag; another one, or no payment, answers 412.'),
        header('If-None-Match', '`*` only creates: a known reference answers 412.'),
      ],
      requestBody: body('PaymentInput', PAYMENT_BODY),
      responses: {
        200: json('The payment was there already, and is as the body says.', written, ETAGGED),
        201: json('The payment is created.', written, [...ETAGGED, 'Location']),
        ...bodyFailures('conflict', 'precondition_failed'),
        ...ownErrors(NOT_ON_COLLECTION),
      },
      ...codeSamples('POST', COLLECTION, PAYMENT_BODY),
    },
  },
  [ITEM]: {
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 }, example: 1 },
    ],
    get: {
      ...operation('getPayment', 'Read one payment', 'payments:read'),
      parameters: [header('If-None-Match', 'An ETag that you hold; while it is right the answer is 304.')],
      responses: {
        200: json('The payment.', payment, ETAGGED),
        304: empty('You hold this state already.', ETAGGED),
        ...failures('not_found'),
        ...ownErrors(LACKS_READ, UNKNOWN_PARAMETER),
      },
      ...codeSamples('GET', ITEM),
    },
    put: update('PUT', 'replacePayment', 'Send a payment back as you want it', PAYMENT_BODY, [
      'For programs that read a payment, change it and send the whole of it back: the body of a GET is taken as it is,',
      'and may contain the read-only fields (`id`, `currency`, …) unchanged. Fields left out stay as they are.',
    ]),
    patch: update('PATCH', 'updatePayment', 'Change some fields of a payment', { status: 'refunded' }, [
      'For programs that know what changes: send those fields alone, at least one.',
    ]),
    delete: {
      ...operation('deletePayment', 'Delete a payment', 'payments:write'),
      description: 'Settles the invoice again. What was deleted stays in the audit log.',
      parameters: [ifMatch],
      responses: {
        204: empty('The payment is deleted.', ['X-Request-Id']),
        ...failures('not_found', 'conflict', 'precondition_failed'),
        ...ownErrors(UNKNOWN_PARAMETER),
      },
      ...codeSamples('DELETE', ITEM),
    },
  },
};

const LACKS_BILLING = new AppError('forbidden', 'This access token lacks the scope billing:read.');

export const documentPaths = {
  '/api/w5t/invoices/{id}/document': documentPath('getInvoiceDocument', 'invoice', [
    'The PDF contains the e-invoice (Factur-X, profile EN 16931). As `application/xml` it is the same invoice as',
    'XRechnung 3.0 in CII syntax. A document is made once, and every download returns the same bytes. An invoice',
    'without a document answers 409 with the reason, such as a field of the company that is empty.',
  ]),
  '/api/w5t/credit-notes/{id}/document': documentPath('getCreditNoteDocument', 'credit note', [
    'The document of a credit note or a cancellation, which names its invoice. It is made and downloaded as that of an',
    'invoice, and its e-invoice has the type 381.',
  ]),
};

function documentPath(operationId: string, noun: string, description: string[]) {
  const article = noun === 'invoice' ? 'an' : 'a';
  const unknown = new AppError('not_found', `There is no ${noun} 4711.`);
  const incomplete = new AppError(
    'conflict',
    `The ${noun} has no document. These fields are empty: company: IBAN.`,
  );
  return {
    parameters: [
      { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 }, example: 1 },
    ],
    get: {
      ...operation(operationId, `Download the document of ${article} ${noun}`, 'billing:read', 'Invoices'),
      description: [...description, 'A token that hides personal data gets 403.'].join(' '),
      parameters: [header('Accept', '`application/pdf`, which is the default, or `application/xml`.')],
      responses: {
        200: {
          description: 'The document.',
          headers: headersOf(['X-Request-Id', 'Content-Disposition']),
          content: {
            'application/pdf': { schema: { type: 'string', format: 'binary' } },
            'application/xml': { schema: { type: 'string' } },
          },
        },
        ...failures('not_acceptable'),
        ...ownErrors(LACKS_BILLING, NOT_ON_COLLECTION, unknown, incomplete, UNKNOWN_PARAMETER),
      },
    },
  };
}

function update(
  method: 'PUT' | 'PATCH',
  operationId: string,
  summary: string,
  example: Record<string, unknown>,
  description: string[],
) {
  return {
    ...operation(operationId, summary, 'payments:write'),
    description: description.join(' '),
    parameters: [ifMatch],
    requestBody: body('PaymentChanges', example),
    responses: {
      200: json('The payment as it is now.', written, ETAGGED),
      ...bodyFailures('not_found', 'conflict', 'precondition_failed'),
    },
    ...codeSamples(method, ITEM, example),
  };
}

function operation(operationId: string, summary: string, scope: string, tag = 'Payments') {
  return { operationId, summary, tags: [tag], security: [{ accessToken: [scope] }] };
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
  return errors(
    'unauthenticated',
    'forbidden',
    'method_not_allowed',
    'internal',
    'unavailable',
    'insufficient_storage',
    ...codes,
  );
}

type Request = { method: string; url: string; body: string | undefined };

/**
 * Returns an operation's request in three languages, as the OpenAPI extension `x-codeSamples` that many viewers show.
 *
 * @param path the operation's path; `{id}` in it becomes 1
 */
function codeSamples(method: string, path: string, body?: Record<string, unknown>) {
  const url = `https://admin.example.com${path.replace('{id}', '1')}`;
  const request = { method, url, body: body && JSON.stringify(body, null, 2) };
  return {
    'x-codeSamples': [
      { lang: 'shell', label: 'curl', source: toCurl(request) },
      { lang: 'javascript', label: 'JavaScript', source: toJavaScript(request) },
      { lang: 'python', label: 'Python', source: toPython(request) },
    ],
  };
}

function toCurl({ method, url, body }: Request): string {
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`,
    `-H "Authorization: Bearer $ACCESS_TOKEN"`,
    ...(body ? [`-H 'Content-Type: application/json'`, `-d '${body}'`] : []),
  ].join(' \\\n  ');
}

function toJavaScript({ method, url, body }: Request): string {
  const type = body ? "\n    'Content-Type': 'application/json'," : '';
  return [
    `const response = await fetch('${url}', {`,
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    `  headers: {\n    Authorization: \`Bearer \${process.env.ACCESS_TOKEN}\`,${type}\n  },`,
    ...(body ? [`  body: JSON.stringify(${indent(body)}),`] : []),
    '});',
    method === 'DELETE' ? 'console.log(response.status);' : 'console.log(await response.json());',
  ].join('\n');
}

/** Writes the request in Python. A JSON object of strings and numbers is also valid Python. */
function toPython({ method, url, body }: Request): string {
  return [
    'import os',
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    `    "${url}",`,
    '    headers={"Authorization": f"Bearer {os.environ[\'ACCESS_TOKEN\']}"},',
    ...(body ? [`    json=${indent(body, '    ')},`] : []),
    ')',
    method === 'DELETE' ? 'print(response.status_code)' : 'print(response.json())',
  ].join('\n');
}

function indent(text: string, by = '  '): string {
  return text.replaceAll('\n', `\n${by}`);
}
