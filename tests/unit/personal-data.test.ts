import { getTableColumns, getTableName } from 'drizzle-orm';
import { PgTable } from 'drizzle-orm/pg-core';
import { beforeAll, expect, test } from 'vitest';
import * as schema from '@/db/schema';
import { seededChance } from '@/lib/chance';
import { redactJson, TEXT_COLUMNS, toRedactor } from '@/lib/erasure/personal-data';
import { fromInbox, withoutPersonalData } from '@/lib/stripe/event';
import { toProviderInvoice } from '@/lib/stripe/to-invoice';
import { toProviderCheckout, toProviderSubscription } from '@/lib/stripe/to-subscription';
import { createWorld } from '@/lib/stripe-local/world';
import { isHandled } from '@/lib/sync/event-types';
import * as act from '../support/stripe-actions';
import { recordedEvents } from '../support/stripe-events';
import { renderEvent } from '../support/stripe-versions';

const VERSIONS = ['2026-10-28.endive', '2022-11-15', '2016-07-06'];
const PERSONAL = ['erika@example.com', 'Erika Mustermann', 'Lindenweg 1', 'Musterstadt'];
const payloads: string[] = [];

beforeAll(() => {
  const world = createWorld({ now: () => new Date('2026-03-31T12:00:00Z'), chance: seededChance(7) });
  const place = { city: 'Musterstadt', postal_code: '10115', country: 'DE' };
  const { object: customer } = act.createCustomer(world, {
    ...{ email: 'erika@example.com', name: 'Erika Mustermann' },
    address: { line1: 'Lindenweg 1', line2: null, ...place },
    metadata: { customer_number: 'K1', nickname: 'Erika Mustermann' },
  });
  const session = act.createCheckoutSession(world, {
    customer: customer.id,
    customerEmail: 'erika@example.com',
    items: [{ unitAmount: 990 }],
    clientReferenceId: 'erika@example.com',
    subscriptionMetadata: { service_number: 'S1', who: 'Erika Mustermann' },
  });
  act.completeCheckout(world, session.id);
  act.updateCustomer(world, customer.id, { email: 'e@example.org' });
  for (const version of VERSIONS) {
    payloads.push(...world.history.map((event) => JSON.stringify(renderEvent(event, version))));
  }
  for (const { read } of recordedEvents()) payloads.push(JSON.stringify(read()));
});

/** Returns the fields that sync reads from an event. Leaves out personal data and metadata keys that sync ignores. */
function readBy(payload: string) {
  const event = fromInbox(payload);
  const { object, previousAttributes: _, ...envelope } = event;
  const read = [toProviderInvoice, toProviderSubscription, toProviderCheckout].map((to) => {
    const provider = to(object);
    if (provider && 'lines' in provider && provider.lines) {
      // Erasing removes the descriptions of lines, which changes the hash of the lines. Leave both out.
      const { lines, isComplete } = provider.lines;
      const withoutText = lines.map((line) => ({ ...line, description: null }));
      Object.assign(provider, { lines: { lines: withoutText, isComplete } });
    }
    return provider && { ...provider, customer: { ...provider.customer, email: null, details: [] } };
  });
  const own = (key: string, value: unknown) =>
    key === 'metadata'
      ? Object.fromEntries(Object.entries(value as object).filter(([name]) => OURS.includes(name)))
      : value;
  return JSON.parse(JSON.stringify({ envelope, read }, own));
}
const OURS = ['customer_number', 'customer_service_id', 'service_number', 'subscription_id'];

test('removing personal data from an event keeps everything that sync applies', () => {
  const handled = payloads.filter((payload) => isHandled(fromInbox(payload)));
  expect(handled.length).toBeGreaterThan(10);
  for (const payload of handled) expect(readBy(withoutPersonalData(payload))).toEqual(readBy(payload));
});

test('personal data is removed from every sample event, and a second removal changes nothing', () => {
  for (const payload of payloads.map(withoutPersonalData)) {
    for (const text of [...PERSONAL, '@']) expect(payload).not.toContain(text);
    expect(withoutPersonalData(payload)).toBe(payload);
  }
});

const names = ['Erika Mustermann', 'Erika', 'Mustermann', 'Wu'];
const redact = toRedactor([...names, 'e.m@example.com', '+49 30 123', ' ']);

test.each([
  ['Server for Erika  MUSTERMANN', 'Server for [erased]'],
  ['mustermann.de, one year', '[erased].de, one year'],
  ['Mustermanns Hosting', 'Mustermanns Hosting'],
  ['e.m@example.com (+49 30 123)', '[erased] ([erased])'],
  ['e-m@example.com', 'e-m@example.com'],
  ['Wu', 'Wu'], // A name of two letters occurs in too many words.
])('the text %j is redacted to %j', (text, expected) => expect(redact(text)).toBe(expected));

test('accented letters are redacted in composed and decomposed form', () => {
  const redactMueller = toRedactor(['Mu\u0308ller']);
  expect(redactMueller('M\u00fcller and Mu\u0308ller')).toBe('[erased] and [erased]');
});

test('a redactor without names changes nothing', () => expect(toRedactor([])('a b')).toBe('a b'));

test('personal data in nested JSON is redacted', () => {
  const of = (name: string, phone: string | null) => {
    const lines = [{ text: `For ${name}`, position: 1 }];
    return { name, lines, phone, at: null };
  };
  expect(redactJson(of('Erika', '1'), redact, new Set(['phone']))).toEqual(of('[erased]', null));
});

/** Column types that can hold free text. */
const TEXTUAL = /^Pg(Text|Varchar|Char|Json|Jsonb|Array)$/;

test('every text column declares how erasing a customer changes it', () => {
  const columns = Object.values(schema)
    .filter((table) => table instanceof PgTable)
    .flatMap((table) =>
      Object.values(getTableColumns(table))
        .filter((column) => TEXTUAL.test(column.columnType) && !column.enumValues?.length)
        .map((column) => `${getTableName(table)}.${column.name}`),
    );
  const declared = Object.entries(TEXT_COLUMNS).flatMap(([table, texts]) =>
    Object.keys(texts).map((column) => `${table}.${column}`),
  );
  // `access_tokens.scopes` has a fixed set of values, so it contains no personal data.
  expect(columns.filter((name) => name !== 'access_tokens.scopes').sort()).toEqual(declared.sort());
});
