import fc from 'fast-check';
import {
  customerStatus,
  invoiceStatus,
  salesDocumentStatus,
  salesDocumentType,
  serviceStatus,
  serviceType,
} from '@/db/schema';

const NASTY = [
  '',
  ' ',
  '%',
  '_',
  '\\',
  "'; drop table customers; --",
  '\u0000',
  '\ud800',
  '\u202e',
  '\ufeff',
  'NaN',
  '2026-02-30',
  '0000-00-00',
  '9999-12-31',
  '__proto__',
  'constructor',
  'x'.repeat(300),
];
const text = fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'binary', maxLength: 40 }));
const number = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(0, -0, -1, 1, 100, 101, 2_147_483_647, 2_147_483_648, Number.MAX_SAFE_INTEGER, 1e308),
);
const anything = fc.oneof(
  text,
  number,
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 3, noUnicodeString: false }),
);

/** Mostly what is asked for, so that a call gets as far as the database. */
const mostly = (good: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 4, arbitrary: good }, { weight: 1, arbitrary: anything });

const id = mostly(fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1 })));
const word = mostly(fc.oneof(fc.constantFrom('a', 'Müller', 'K-1', 'first last', 'example'), text));
const enumOf = (values: readonly string[]) => mostly(fc.constantFrom(...values));
const date = mostly(
  fc
    .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((day) => day.toISOString().slice(0, 10)),
);
const page = {
  page: mostly(fc.integer({ min: 1, max: 20_000_000 })),
  per_page: mostly(fc.integer({ min: 1, max: 100 })),
};

const ARGUMENTS: Record<string, Record<string, fc.Arbitrary<unknown>>> = {
  'find-customer-tool': { query: word },
  'get-customer-tool': { id, customer_number: word },
  'list-services-tool': {
    customer_id: id,
    status: enumOf(serviceStatus.enumValues),
    service_type: enumOf(serviceType.enumValues),
    domain: word,
    ...page,
  },
  'list-invoices-tool': {
    customer_id: id,
    status: enumOf(invoiceStatus.enumValues),
    invoice_date_from: date,
    invoice_date_to: date,
    ...page,
  },
  'list-sales-documents-tool': {
    customer_id: id,
    type: enumOf(salesDocumentType.enumValues),
    status: enumOf(salesDocumentStatus.enumValues),
    document_date_from: date,
    document_date_to: date,
    ...page,
  },
  'list-servers-tool': { status: enumOf(customerStatus.enumValues) },
};

export const TOOL_NAMES = Object.keys(ARGUMENTS);

/** Arguments of a tool: any of its own, now and then one that is not its own. */
export function argumentsOf(tool: string): fc.Arbitrary<Record<string, unknown>> {
  const own = fc.record(ARGUMENTS[tool] ?? {}, { requiredKeys: [] });
  const strange = fc.dictionary(text, anything, { maxKeys: 2 });
  return fc.oneof(
    { weight: 6, arbitrary: own },
    { weight: 1, arbitrary: fc.tuple(own, strange).map(([a, b]) => ({ ...a, ...b })) },
  );
}

const params = fc.oneof(
  fc.record(
    {
      name: fc.oneof(fc.constantFrom(...TOOL_NAMES), text),
      arguments: fc.oneof(fc.dictionary(text, anything, { maxKeys: 3 }), anything),
      protocolVersion: fc.oneof(fc.constantFrom('2025-06-18', '2026-07-28'), anything),
      capabilities: anything,
      clientInfo: anything,
      cursor: anything,
      requestId: anything,
      _meta: fc.oneof(
        fc.constant({
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        }),
        fc.dictionary(fc.constantFrom('progressToken', 'io.modelcontextprotocol/protocolVersion'), anything),
        anything,
      ),
    },
    { requiredKeys: [] },
  ),
  anything,
);

const METHODS = [
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'server/discover',
  'subscriptions/listen',
  'resources/list',
  'completion/complete',
  'logging/setLevel',
  'events/list',
  'tasks/get',
  'notifications/initialized',
  'notifications/cancelled',
];

const message = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, { weight: 1, arbitrary: anything }),
    id: fc.oneof(fc.integer(), fc.string({ maxLength: 8 }), anything),
    method: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...METHODS) },
      { weight: 1, arbitrary: anything },
    ),
    params,
    result: anything,
    error: anything,
  },
  { requiredKeys: [] },
);

/** Bodies: nearly messages, JSON, and neither. */
export const body: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: message.map((one) => JSON.stringify(one)) },
  { weight: 1, arbitrary: fc.array(message, { maxLength: 3 }).map((batch) => JSON.stringify(batch)) },
  { weight: 1, arbitrary: fc.json({ noUnicodeString: false }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  {
    weight: 1,
    arbitrary: fc.tuple(message, fc.nat(300)).map(([one, end]) => JSON.stringify(one).slice(0, end)), // broken off
  },
);

const headerText = fc.string({ unit: 'grapheme-ascii', maxLength: 30 }).map((value) => value.trim());
const header = (...likely: string[]) => fc.oneof(fc.constantFrom(...likely), headerText);

const otherHeaders = {
  'content-length': header('0', '5', '99999999999'),
  accept: header('application/json', '*/*', 'text/event-stream', 'text/html;q=0'),
  'mcp-protocol-version': header('2025-06-18', '2025-11-25', '2026-07-28', '1999-01-01'),
  'mcp-method': header('tools/list', 'tools/call'),
  'mcp-name': header(...TOOL_NAMES),
  'mcp-session-id': headerText,
  'last-event-id': headerText,
};
const firstHeaders = {
  ...otherHeaders,
  authorization: header('Bearer', 'Basic eDp5', `Bearer w5t_${'A'.repeat(43)}`),
  'content-type': header('application/json; charset=utf-8', 'text/plain'),
  origin: header('null', 'http://localhost:3000', 'https://evil.example'),
};

/** Headers of a request, mostly such that it is let in; the test adds a token where there is none. */
export const headers: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 3, arbitrary: fc.record(otherHeaders, { requiredKeys: [] }) },
  { weight: 1, arbitrary: fc.record(firstHeaders, { requiredKeys: [] }) },
);
