import { and, eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import {
  auditLog,
  creditNotes,
  customerServices,
  customers,
  servers,
  stripeCustomers,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { transact } from '@/db/transaction';
import { commandActor } from '@/lib/audit/audit-log';
import { customerKind, customerSteps, typedCustomer } from '@/lib/customers/save-customers';
import { getCompany, saveCompany } from '@/lib/documents/company';
import {
  DEFAULTS,
  getReminderSettings,
  saveReminderSettings,
  toTyped as toTypedReminders,
} from '@/lib/documents/reminder-letter';
import { getAccountingSettings, saveAccountingSettings, toTyped } from '@/lib/exports/accounting-settings';
import { etagOf } from '@/lib/http/messages';
import { listNumberSeries, saveNumberSeries, takeNumber } from '@/lib/records/number-series';
import type { RecordWriter, SettingsWriter } from '@/lib/records/record-kind';
import { saveRecord, saveRecords } from '@/lib/records/save-records';
import { deleteRecord, readState, stepsFrom, takeStep } from '@/lib/records/steps';
import { readTyped, saveTyped } from '@/lib/records/typed-record';
import { serverKind, typedServer } from '@/lib/servers/save-servers';
import { serviceKind, serviceSteps, typedNewService, typedService } from '@/lib/services/save-services';
import { readRow, readRows, useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createServer,
  createService,
  createStripeCustomer,
  createSubscription,
  createSubscriptionItem,
} from '../support/factories';

const base = useDatabase();
const NOW = new Date('2026-11-23T10:00:00Z');
const writer: RecordWriter = { actor: commandActor('test'), now: NOW, timeZone: 'UTC' };

type Draft = Parameters<typeof saveRecords>[2][number];
const saveServers = (...drafts: Draft[]) => saveRecords(base.db, serverKind, drafts, writer);
const saveServer = (values: Draft['values'], more: Omit<Draft, 'values'> = {}, by = writer) =>
  saveRecord(base.db, serverKind, { ...more, values }, by);
const saveCustomers = (...all: Draft['values'][]) => {
  const drafts = all.map((values) => ({ values }));
  return saveRecords(base.db, customerKind, drafts, writer);
};
const customerOf = async (number: string) =>
  (await readRows(base.db, customers, eq(customers.customer_number, number)))[0];
const logOf = (entity: 'server' | 'customer', id: number) =>
  readRows(base.db, auditLog, and(eq(auditLog.entity, entity), eq(auditLog.entity_id, id)));

test('saving a customer with a known number in another letter case changes that customer', async () => {
  const second = { customer_number: 'N2', last_name: 'Two' };
  const created = { outcome: 'created', id: expect.any(Number) };
  const first = { customer_number: 'N1', company: 'One', tax_exempt: true };
  expect(await saveCustomers(first, second)).toEqual([created, created]);
  const again = { customer_number: 'n1', company: 'One Ltd' };
  const outcomes = [{ outcome: 'changed' }, { outcome: 'unchanged' }];
  expect(await saveCustomers(again, second)).toMatchObject(outcomes);
  const kept = { company: 'One Ltd', tax_exempt: true, currency: 'eur', status: 'active' };
  expect(await customerOf('n1')).toMatchObject(kept);
});

test('each invalid field of a record is named, and other records are saved', async () => {
  const wrong = { hostname: 'no good', ipv4: ['192.0.2'], cpu_cores: 0, colour: 'red' };
  const saved = await saveServers({ values: { hostname: 'ok.example.net' } }, { values: wrong });
  const problems = expect.arrayContaining([
    { field: 'hostname', message: 'must be a host name' },
    { field: 'cpu_cores', message: 'must be at least 1' },
    { field: 'colour', message: 'is not a field' },
  ]);
  expect(saved).toMatchObject([{ outcome: 'created' }, { outcome: 'refused', problems }]);
  expect(await base.db.$count(servers)).toBe(1);
});

test('saving a customer is refused if a new country is unknown or does not fit the VAT ID, but not for an unchanged VAT ID', async () => {
  const of = { customer_number: 'V1', company: 'Vat' };
  const austrian = { ...of, country: 'Austria', vat_id: 'atu 1234 5678', currency: 'EUR' };
  expect(await saveCustomers(austrian)).toMatchObject([{ outcome: 'created' }]);
  expect(await customerOf('V1')).toMatchObject({ country: 'AT', vat_id: 'ATU12345678', currency: 'eur' });
  const refusedFor = (field: string) => [{ outcome: 'refused', problems: [{ field }] }];
  expect(await saveCustomers({ ...of, country: 'Austrai' })).toMatchObject(refusedFor('country'));
  expect(await saveCustomers({ ...of, country: 'de' })).toMatchObject(refusedFor('vat_id'));
  await base.db.update(customers).set({ vat_id: '?' }).where(eq(customers.customer_number, 'V1'));
  expect(await saveCustomers({ ...of, vat_id: '?', phone: '1' })).toMatchObject([{ outcome: 'changed' }]);
});

test('the audit log has the state before and after a change, but no entry for a record that an import creates', async () => {
  const imported = { ...writer, importId: 1 };
  const { id } = await saveServer({ hostname: 'a.example.net' });
  await saveServer({ location: 'Vienna' }, { id }, imported);
  expect(await logOf('server', id)).toMatchObject([
    { action: 'server.create', before: null, after: { hostname: 'a.example.net' } },
    { action: 'server.update', before: { location: null }, after: { location: 'Vienna' } },
  ]);
  const other = await saveServer({ hostname: 'b.example.net' }, {}, imported);
  expect(await logOf('server', other.id)).toEqual([]);
});

test('saving a record from an outdated version is refused', async () => {
  const { id, version } = await createServer(base.db, { hostname: 'c.example.net' });
  await saveServer({ cpu: 'EPYC' }, { id, version });
  const late = saveServer({ cpu: 'Xeon' }, { id, version });
  await expect(late).rejects.toThrow('Someone else has changed this');
});

test('two servers cannot have the same hostname', async () => {
  const hostname = 'F.example.net';
  await createServer(base.db, { hostname: 'f.example.net' });
  const { id } = await createServer(base.db, { hostname: 'g.example.net' });
  const refused = { outcome: 'refused', problems: [{ field: 'hostname', message: 'is taken' }] };
  for (const draft of [{ id }, { isNew: true }]) {
    expect(await saveServers({ ...draft, values: { hostname } })).toEqual([refused]);
  }
  const both = await Promise.all(['x', 'y'].map((cpu) => saveServer({ hostname: 'd.example.net', cpu })));
  expect(both[0]).toEqual(both[1]);
});

const service = { customer_number: 'K1', service_type: 'hosting', name: 'Web', price: 9.9 };
const saveService = (values: object) => saveRecord(base.db, serviceKind, { values: { ...values } }, writer);

test('a new service gets the next number, and is refused if its customer or server is unknown', async () => {
  await createCustomer(base.db, { customer_number: 'K1' });
  const values = { ...service, hostname: 'a.example.net' };
  for (let i = 0; i < 2; i += 1) await saveService(values);
  expect(await readRows(base.db, customerServices)).toMatchObject([
    { service_number: 'S00001', price: '9.900', currency: 'eur' },
    { service_number: 'S00002' },
  ]);
  await expect(saveService({ ...values, customer_number: 'K0', hostname: 'no' })).rejects.toMatchObject({
    fields: [
      { field: 'customer_number', message: 'is not a known customer' },
      { field: 'hostname', message: 'is not a known server' },
    ],
  });
});

test('a recheck becomes due when the customer or service that Stripe’s metadata names is created', async () => {
  const numbers = [{ number: 'K900', source: 'customer' as const, at: null, by: null }];
  const { stripe_customer_id } = await createStripeCustomer(base.db, { linked_by: 'created', numbers });
  const item = await createSubscriptionItem(base.db, { named_service_number: 'S900' });
  const values = { customer_number: 'k900', company: 'Nine' };
  await saveRecord(base.db, customerKind, { values }, writer);
  await saveService({ ...service, service_number: 'S900' });
  const isLink = eq(stripeCustomers.stripe_customer_id, stripe_customer_id);
  const [link] = await base.db.select().from(stripeCustomers).where(isLink);
  const bill = await readRow(base.db, subscriptions, item.subscription_id);
  expect([link?.recheck_at, bill.recheck_at]).toEqual([NOW, NOW]);
});

test('the server form accepts IP addresses separated by spaces or line breaks', async () => {
  const ipv4 = ['192.0.2.7', '192.0.2.8', '192.0.2.9'];
  const addresses = { ipv4: '192.0.2.7 192.0.2.8\r\n192.0.2.9', ipv6: '' };
  const typed = { hostname: ' Web7.Example.net ', ...addresses, cpu_cores: '8', location: '' };
  const { id } = await saveTyped(base.db, typedServer, null, typed, writer);
  const stored = { hostname: 'web7.example.net', ipv4, ipv6: [], cpu_cores: 8, location: null };
  expect(await readRow(base.db, servers, id)).toMatchObject(stored);
  const shown = { hostname: 'web7.example.net', ipv4: ipv4.join('\n'), cpu_cores: '8' };
  expect(await readTyped(base.db, typedServer, id)).toMatchObject({ version: 0, typed: shown });
});

test('the service form accepts a price with a decimal comma', async () => {
  const { customer_number } = await createCustomer(base.db);
  const { hostname } = await createServer(base.db);
  const same = { hostname, service_type: 'hosting', status: 'order', name: 'Web', currency: 'CHF' };
  const dates = { billing_interval: 'year', start_date: '2026-01-31' };
  const of = { service_number: '', customer_number: customer_number.toLowerCase() };
  const typed = { ...same, ...dates, ...of, price: '1.019,90' };
  const { id } = await saveTyped(base.db, typedNewService, null, typed, writer);
  const empty = { domain: '', next_billing_date: '', ends_on: '' };
  const shown = { ...same, ...dates, ...empty, service_number: 'S00003', customer_number, price: '1019.90' };
  expect((await readTyped(base.db, typedNewService, id)).typed).toEqual(shown);
});

test('the forms of servers and services name each invalid field', async () => {
  const typed = { hostname: '', ipv4: '192.0.2', cpu_cores: '1,5', ram_gb: 'much' };
  const fields = [
    { field: 'hostname', message: expect.any(String) },
    { field: 'hostname', message: 'must be a host name' },
    { field: 'ipv4', message: 'must be IPv4 addresses' },
    { field: 'cpu_cores', message: 'must be a whole number' },
    { field: 'ram_gb', message: 'must be a whole number' },
  ];
  const saving = saveTyped(base.db, typedServer, null, typed, writer);
  await expect(saving).rejects.toMatchObject({ code: 'validation_failed', fields });
  const opened = { id: (await createService(base.db)).id, version: 0 };
  const price = { field: 'price', message: expect.stringMatching(/^can mean 1119 or 1\.119/) };
  const priced = saveTyped(base.db, typedService, opened, { price: '1,119' }, writer);
  await expect(priced).rejects.toMatchObject({ fields: [price] });
});

test('the customer form does not overwrite another customer with the same number', async () => {
  const ada = await createCustomer(base.db, { customer_number: 'ADA', company: 'Ada' });
  const bob = await createCustomer(base.db, { company: 'Bob' });
  const typed = { customer_number: 'ada', company: 'Other' };
  const taken = { code: 'validation_failed', fields: [{ field: 'customer_number', message: 'is taken' }] };
  for (const seen of [null, { id: bob.id, version: 0 }]) {
    await expect(saveTyped(base.db, typedCustomer, seen, typed, writer)).rejects.toMatchObject(taken);
  }
  const own = { id: ada.id, version: 0 };
  await saveTyped(base.db, typedCustomer, own, { ...typed, company: 'Ada Ltd' }, writer);
  expect((await readTyped(base.db, typedCustomer, ada.id)).typed.company).toBe('Ada Ltd');
});

test('a status change is refused unless the current status allows it and the version is current', async () => {
  const { id } = await createService(base.db, { status: 'active' });
  const step = (name: string, version: number) =>
    takeStep(base.db, serviceSteps, name, { id, version }, writer);
  const read = () => readRow(base.db, customerServices, id);
  await step('cancel', 0);
  expect(await read()).toMatchObject({ status: 'cancelled', cancelled_at: NOW, version: 1 });
  await expect(step('resume', 0)).rejects.toMatchObject({ code: 'precondition_failed' });
  await expect(step('suspend', 1)).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(step('toString', 1)).rejects.toMatchObject({ code: 'validation_failed' });
  await step('resume', 1);
  expect(await read()).toMatchObject({ status: 'active', cancelled_at: null });
  expect(stepsFrom(customerSteps, 'active')).toEqual(['deactivate']);
  expect(stepsFrom(customerSteps, 'blocked')).toEqual(['reactivate', 'deactivate']);
  expect(stepsFrom(customerSteps, 'inactive')).toEqual(['reactivate']);
});

test.each([
  ['2026-11-23', null],
  ['2099-12-31', '2099-12-31'],
])('a service resumed on 2026-11-23 with the end date %s then has the end date %s', async (ends_on, kept) => {
  const { id } = await createService(base.db, { status: 'active', ends_on });
  for (const [version, name] of ['cancel', 'resume'].entries())
    await takeStep(base.db, serviceSteps, name, { id, version }, writer);
  expect(await readRow(base.db, customerServices, id)).toMatchObject({ ends_on: kept });
});

test('a customer without a name can be deactivated, but a customer’s only name cannot be removed', async () => {
  const { id } = await createCustomer(base.db, { company: null, first_name: null, last_name: null });
  await takeStep(base.db, customerSteps, 'deactivate', { id, version: 0 }, writer);
  expect(await readRow(base.db, customers, id)).toMatchObject({ status: 'inactive' });
  await saveRecord(base.db, customerKind, { id, values: { company: 'Ada' } }, writer);
  const emptying = saveRecord(base.db, customerKind, { id, values: { company: null } }, writer);
  await expect(emptying).rejects.toMatchObject({ fields: [{ field: 'company' }] });
});

test('deleting a customer is refused from an outdated version, and leaves the customer’s data in the audit log', async () => {
  const { id } = await createCustomer(base.db, { company: 'Gone Ltd' });
  const remove = (version: number) => deleteRecord(base.db, customerKind, { id, version }, writer);
  expect(await readState(base.db, customerKind, id)).toEqual({ version: 0, isReferredTo: false });
  await expect(remove(1)).rejects.toMatchObject({ code: 'precondition_failed' });
  await remove(0);
  expect(await base.db.$count(customers, eq(customers.id, id))).toBe(0);
  expect(await logOf('customer', id)).toMatchObject([
    { action: 'customer.delete', before: { company: 'Gone Ltd' }, after: null },
  ]);
  await expect(readState(base.db, customerKind, id)).rejects.toMatchObject({ code: 'not_found' });
  await expect(remove(0)).rejects.toMatchObject({ code: 'not_found' });
});

test('deleting a record is refused while another record refers to it', async () => {
  const server = await createServer(base.db);
  const service = await createService(base.db, { server_id: server.id });
  await createSubscriptionItem(base.db, { customer_service_id: service.id });
  for (const [kind, id] of [
    [customerKind, (await createInvoice(base.db)).customer_id],
    [customerKind, (await createStripeCustomer(base.db)).customer_id],
    [customerKind, service.customer_id],
    [serverKind, server.id],
    [serviceKind, service.id],
  ] as const) {
    expect(await readState(base.db, kind, id)).toEqual({ version: 0, isReferredTo: true });
    const deletion = deleteRecord(base.db, kind, { id, version: 0 }, writer);
    await expect(deletion).rejects.toMatchObject({ code: 'conflict' });
  }
  expect(await base.db.$count(auditLog, eq(auditLog.action, 'customer.delete'))).toBe(1);
});

const settings = { prefix: 'R-', with_year: false, width: 4, first_count: 1 };

test('the next number of a series continues after its highest number, or follows changed settings, which are audited', async () => {
  await createInvoice(base.db, { number: '2026-000007' });
  expect(await listNumberSeries(base.db)).toHaveLength(5);
  const next = () => transact(base.db, (tx) => takeNumber(tx, 'invoice', writer));
  expect(await next()).toBe('2026-000008');
  const saved = await saveNumberSeries(base.db, 'invoice', { ...settings, first_count: 500 }, writer);
  expect(await next()).toBe('R-0500');
  // The form keeps the ETag of what it saved, and sends it with its next save.
  expect((await listNumberSeries(base.db)).map(etagOf)).toContain(etagOf(saved));
  expect((await readRows(base.db, auditLog)).at(-1)).toMatchObject({
    action: 'number_series.update',
    before: { prefix: '', with_year: true },
    after: { prefix: 'R-', first_count: 500 },
  });
  const unknown = saveNumberSeries(base.db, 'bill', settings, writer);
  await expect(unknown).rejects.toMatchObject({ code: 'not_found' });
});

type Save = (text: string, by: SettingsWriter<object>) => Promise<unknown>;
test.each<[string, () => Promise<object>, Save]>([
  [
    'company',
    () => getCompany(base.db),
    async (bank_name, by) => {
      const { logo: _, ...company } = await getCompany(base.db);
      return saveCompany(base.db, { ...company, bank_name }, by);
    },
  ],
  [
    'DATEV export',
    () => getAccountingSettings(base.db),
    async (client_number, by) => {
      const typed = toTyped(await getAccountingSettings(base.db));
      return saveAccountingSettings(base.db, { ...typed, client_number }, by);
    },
  ],
  [
    'reminders',
    () => getReminderSettings(base.db),
    (pause_days, by) => {
      const typed = toTypedReminders(DEFAULTS) as Parameters<typeof saveReminderSettings>[1];
      return saveReminderSettings(base.db, { ...typed, pause_days }, by);
    },
  ],
  [
    'number series',
    async () => (await listNumberSeries(base.db))[0] ?? {},
    (prefix, by) => saveNumberSeries(base.db, 'credit_note', { ...settings, prefix }, by),
  ],
])(
  'settings of the %s are not saved if another admin has changed them since the page was opened',
  async (_, read, save) => {
    const see = async () => {
      const seen = etagOf(await read());
      return { ...writer, precondition: (current: object) => etagOf(current) === seen };
    };
    const [first, late] = [await see(), await see()];
    await save('5', first);
    await expect(save('6', late)).rejects.toMatchObject({ code: 'precondition_failed' });
    await save('6', await see());
  },
);

test.each<[Partial<Record<keyof typeof settings, unknown>>, string]>([
  [{ prefix: 'R 1' }, 'prefix'],
  [{ prefix: 'x'.repeat(21) }, 'prefix'],
  [{ width: 0 }, 'width'],
  [{ width: 13 }, 'width'],
  [{ width: 'six' }, 'width'],
  [{ first_count: 10_000 }, 'first_count'],
])('a number series with %j is refused', async (values, field) => {
  const saving = saveNumberSeries(base.db, 'offer', { ...settings, ...values }, writer);
  const fields = expect.arrayContaining([{ field, message: expect.any(String) }]);
  await expect(saving).rejects.toMatchObject({ fields });
});

const byYear = { ...settings, prefix: '', with_year: true, width: 6 };
test.each<[string, typeof settings, Partial<typeof settings>]>([
  ['the same format', byYear, byYear],
  ['a prefix with the year', byYear, { prefix: '2026-', width: 6 }],
  ['a prefix of digits', { ...byYear, width: 9 }, { prefix: '2026-01', with_year: false, width: 7 }],
  ['letters in another case', { ...settings, prefix: 'gs-' }, { prefix: 'GS-' }],
])(
  'a format of credit notes is refused if it can give the number of an invoice because of %s',
  async (_, invoice, format) => {
    await saveNumberSeries(base.db, 'invoice', invoice, writer);
    const save = (name: string) => saveNumberSeries(base.db, name, { ...settings, ...format }, writer);
    const message = 'can give an invoice and a credit note the same number: use another prefix';
    await expect(save('credit_note')).rejects.toMatchObject({ fields: [{ field: 'prefix', message }] });
    await save('offer');
    await saveNumberSeries(base.db, 'credit_note', { ...invoice, width: invoice.width + 1 }, writer);
  },
);

test('a series whose numbers are all taken refuses to give another one, and names the setting', async () => {
  await saveNumberSeries(base.db, 'invoice', { ...settings, width: 1 }, writer);
  await createInvoice(base.db, { number: 'R-9' });
  const taking = transact(base.db, (tx) => takeNumber(tx, 'invoice', writer));
  const message = 'The series has no numbers left. Change the format under Settings, Numbers.';
  await expect(taking).rejects.toMatchObject({ code: 'validation_failed', message });
});

test('an invoice does not get the number of a credit note that had the format before', async () => {
  await saveNumberSeries(base.db, 'invoice', { ...settings, prefix: 'X-' }, writer);
  const { id, customer_id } = await createInvoice(base.db);
  const sums = { subtotal: '1', tax: '0', total: '1', rates: [] };
  const note = { number: 'X-0001', kind: 'credit_note', date: '2026-11-01', currency: 'eur' } as const;
  await base.db.insert(creditNotes).values({ ...note, ...sums, invoice_id: id, customer_id });
  const taking = transact(base.db, (tx) => takeNumber(tx, 'invoice', writer));
  const message = expect.stringContaining('X-0001');
  await expect(taking).rejects.toMatchObject({ code: 'validation_failed', message });
});

test('a service that staff move to another customer loses its subscription item and the dates of that subscription', async () => {
  const from = await createCustomer(base.db);
  const to = await createCustomer(base.db);
  const dates = { next_billing_date: '2026-12-01', synced_billing_date: '2026-12-01', ends_on: '2031-05-05' };
  const { id } = await createService(base.db, { customer_id: from.id, ...dates });
  const { id: subscription_id } = await createSubscription(base.db, { customer_id: from.id });
  const link = { customer_service_id: id, linked_by_staff: true };
  const item = await createSubscriptionItem(base.db, { subscription_id, ...link });
  await saveRecord(base.db, serviceKind, { id, values: { customer_number: to.customer_number } }, writer);
  expect(await readRow(base.db, customerServices, id)).toMatchObject({
    ...{ customer_id: to.id, next_billing_date: null, synced_billing_date: null, ends_on: '2031-05-05' },
  });
  await base.db.update(customerServices).set(dates).where(eq(customerServices.id, id));
  const { next_billing_date } = dates;
  const stated = { customer_number: from.customer_number, next_billing_date };
  const imported = { ...writer, importId: null };
  await saveRecord(base.db, serviceKind, { id, values: stated }, imported);
  const kept = { customer_id: from.id, next_billing_date, synced_billing_date: null };
  expect(await readRow(base.db, customerServices, id)).toMatchObject(kept);
  const unlinked = { customer_service_id: null, linked_by_staff: false };
  expect(await readRow(base.db, subscriptionItems, item.id)).toMatchObject(unlinked);
  expect(await readRows(base.db, auditLog, eq(auditLog.entity, 'subscription_item'))).toMatchObject([
    { action: 'subscription_item.move', before: link, after: unlinked },
  ]);
});
