import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { auditLog, customerServices, customers, servers, stripeCustomers, subscriptions } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { customerKind } from '@/lib/customers/save-customers';
import type { RecordWriter } from '@/lib/records/record-kind';
import { saveRecord, saveRecords } from '@/lib/records/save-records';
import { serverKind } from '@/lib/servers/save-servers';
import { serviceKind } from '@/lib/services/save-services';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createServer,
  createStripeCustomer,
  createSubscriptionItem,
} from '../support/factories';

const base = useDatabase();
const NOW = new Date('2026-11-23T10:00:00Z');
const writer: RecordWriter = { actor: commandActor('test'), now: NOW, timeZone: 'UTC' };
const service = { customer_number: 'K1', service_type: 'hosting', name: 'Web', price: 9.9 };

describe('saveRecords', () => {
  test('creates, changes and leaves alone, each told', async () => {
    const drafts = [
      { values: { customer_number: 'N1', company: 'One', tax_exempt: true } },
      { values: { customer_number: 'N2', last_name: 'Two' } },
    ];
    expect(await saveRecords(base.db, customerKind, drafts, writer)).toEqual([
      { outcome: 'created', id: expect.any(Number) },
      { outcome: 'created', id: expect.any(Number) },
    ]);
    const again = [{ values: { customer_number: 'n1', company: 'One Ltd' } }, ...drafts.slice(1)];
    expect(await saveRecords(base.db, customerKind, again, writer)).toMatchObject([
      { outcome: 'changed' },
      { outcome: 'unchanged' },
    ]);
    const [found] = await base.db.select().from(customers).where(eq(customers.customer_number, 'n1'));
    expect(found).toMatchObject({ company: 'One Ltd', tax_exempt: true, currency: 'eur', status: 'active' });
  });

  test('who is refused keeps nobody else out', async () => {
    const saved = await saveRecords(
      base.db,
      serverKind,
      [
        { values: { hostname: 'ok.example.net', ipv4: ['192.0.2.1'] } },
        { values: { hostname: 'no good', ipv4: ['192.0.2'], cpu_cores: 0, colour: 'red' } },
      ],
      writer,
    );
    expect(saved).toMatchObject([{ outcome: 'created' }, { outcome: 'refused' }]);
    expect(saved[1]).toHaveProperty(
      'problems',
      expect.arrayContaining([
        { field: 'hostname', message: 'must be a host name' },
        { field: 'cpu_cores', message: 'must be at least 1' },
        { field: 'colour', message: 'is not a field' },
      ]),
    );
    expect(await base.db.$count(servers)).toBe(1);
  });

  test('leaves the row before and after in the audit log; an import leaves its new rows to its own entry', async () => {
    const { id } = await saveRecord(base.db, serverKind, { values: { hostname: 'a.example.net' } }, writer);
    await saveRecord(base.db, serverKind, { id, values: { location: 'Vienna' } }, { ...writer, importId: 1 });
    await saveRecord(
      base.db,
      serverKind,
      { values: { hostname: 'b.example.net' } },
      { ...writer, importId: 1 },
    );
    const log = await base.db
      .select()
      .from(auditLog)
      .where(eq(auditLog.entity, 'server'))
      .orderBy(auditLog.id);
    expect(log.slice(-2)).toMatchObject([
      { action: 'server.create', before: null, after: { hostname: 'a.example.net' } },
      { action: 'server.update', before: { location: null }, after: { location: 'Vienna' } },
    ]);
  });

  test('two people do not overwrite each other', async () => {
    const { id, version } = await createServer(base.db, { hostname: 'c.example.net' });
    await saveRecord(base.db, serverKind, { id, version, values: { cpu: 'EPYC' } }, writer);
    await expect(
      saveRecord(base.db, serverKind, { id, version, values: { cpu: 'Xeon' } }, writer),
    ).rejects.toThrow('Somebody else has changed this');
  });

  test('finds a record however its key is written', async () => {
    await createServer(base.db, { hostname: 'e.example.net' });
    const saved = await saveRecords(
      base.db,
      serverKind,
      [{ values: { hostname: 'E.Example.net', cpu: 'EPYC' } }],
      writer,
    );
    expect(saved).toMatchObject([{ outcome: 'changed' }]);
  });

  test('no two records get one key', async () => {
    await createServer(base.db, { hostname: 'f.example.net' });
    const { id } = await createServer(base.db, { hostname: 'g.example.net' });
    const problems = [{ field: 'hostname', message: 'is taken' }];
    for (const draft of [{ id }, { isNew: true }]) {
      const values = { hostname: 'F.example.net' };
      expect(await saveRecords(base.db, serverKind, [{ ...draft, values }], writer)).toEqual([
        { outcome: 'refused', problems },
      ]);
    }
  });

  test('two at once make one record', async () => {
    const both = await Promise.all(
      ['x', 'y'].map((cpu) =>
        saveRecord(base.db, serverKind, { values: { hostname: 'd.example.net', cpu } }, writer),
      ),
    );
    expect(both[0]).toEqual(both[1]);
  });
});

describe('references and numbers', () => {
  test('a service names its customer and its server as people do, and takes the next number', async () => {
    await createCustomer(base.db, { customer_number: 'K1' });
    const values = { ...service, hostname: 'a.example.net' };
    for (let i = 0; i < 2; i += 1) await saveRecord(base.db, serviceKind, { values }, writer);
    const made = await base.db.select().from(customerServices).orderBy(customerServices.id);
    expect(made).toMatchObject([
      { service_number: 'S00001', price: '9.900', currency: 'eur' },
      { service_number: 'S00002' },
    ]);
    await expect(
      saveRecord(
        base.db,
        serviceKind,
        { values: { ...values, customer_number: 'K0', hostname: 'no' } },
        writer,
      ),
    ).rejects.toMatchObject({
      fields: [
        { field: 'customer_number', message: 'is not a known customer' },
        { field: 'hostname', message: 'is not a known server' },
      ],
    });
  });

  test('what Stripe named before it was there is looked at again', async () => {
    const { stripe_customer_id } = await createStripeCustomer(base.db, {
      linked_by: 'created',
      numbers: [{ number: 'K900', source: 'customer', at: null, by: null }],
    });
    const item = await createSubscriptionItem(base.db, { named_service_number: 'S900' });
    await saveRecord(base.db, customerKind, { values: { customer_number: 'k900', company: 'Nine' } }, writer);
    await saveRecord(base.db, serviceKind, { values: { ...service, service_number: 'S900' } }, writer);
    const [link] = await base.db
      .select()
      .from(stripeCustomers)
      .where(eq(stripeCustomers.stripe_customer_id, stripe_customer_id));
    const [bill] = await base.db
      .select()
      .from(subscriptions)
      .where(eq(subscriptions.id, item.subscription_id));
    expect([link?.recheck_at, bill?.recheck_at]).toEqual([NOW, NOW]);
  });
});
