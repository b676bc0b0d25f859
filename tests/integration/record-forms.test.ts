import { and, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { auditLog, customerServices, customers, servers } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { customerKind } from '@/lib/customers/save-customers';
import { customerSteps, typedCustomer } from '@/lib/customers/typed-customer';
import { deleteRecord } from '@/lib/records/delete-record';
import { mergeTyped } from '@/lib/records/merge-typed';
import { readState } from '@/lib/records/read-state';
import type { RecordWriter } from '@/lib/records/record-kind';
import { stepsFrom, takeStep } from '@/lib/records/take-step';
import { readTyped, saveTyped } from '@/lib/records/typed-record';
import { serverKind } from '@/lib/servers/save-servers';
import { typedServer } from '@/lib/servers/typed-server';
import { serviceKind } from '@/lib/services/save-services';
import { serviceSteps, typedNewService, typedService } from '@/lib/services/typed-service';
import { useDatabase } from '../support/database';
import {
  createCustomer,
  createInvoice,
  createServer,
  createService,
  createStripeCustomer,
  createSubscriptionItem,
} from '../support/factories';

const base = useDatabase();
const NOW = new Date('2026-11-23T10:00:00Z');
const writer: RecordWriter = { actor: commandActor('test'), now: NOW, timeZone: 'UTC' };

describe('a form', () => {
  test('is read as people type', async () => {
    const typed = {
      hostname: ' Web7.Example.net ',
      ipv4: '192.0.2.7 192.0.2.8\r\n192.0.2.9',
      ipv6: '',
      cpu_cores: '8',
      location: '',
    };
    const { id } = await saveTyped(base.db, typedServer, null, typed, writer);
    const [server] = await base.db.select().from(servers).where(eq(servers.id, id));
    expect(server).toMatchObject({
      hostname: 'web7.example.net',
      ipv4: ['192.0.2.7', '192.0.2.8', '192.0.2.9'],
      ipv6: [],
      cpu_cores: 8,
      location: null,
    });
    expect(await readTyped(base.db, typedServer, id)).toMatchObject({
      version: 0,
      typed: { hostname: 'web7.example.net', ipv4: '192.0.2.7\n192.0.2.8\n192.0.2.9', cpu_cores: '8' },
    });
  });

  test('of a service knows its customer and its server by name, and money with comma or point', async () => {
    const customer = await createCustomer(base.db);
    const server = await createServer(base.db);
    const typed = {
      service_number: '',
      customer_number: customer.customer_number.toLowerCase(),
      hostname: server.hostname,
      service_type: 'hosting',
      status: 'order',
      name: 'Web',
      price: '19,90',
      currency: 'CHF',
      billing_interval: 'year',
      start_date: '2026-01-31',
    };
    const { id } = await saveTyped(base.db, typedNewService, null, typed, writer);
    expect((await readTyped(base.db, typedNewService, id)).typed).toEqual({
      ...typed,
      service_number: 'S00001',
      customer_number: customer.customer_number,
      domain: '',
      price: '19.90',
      next_billing_date: '',
      ends_on: '',
    });
  });

  test('names the fields that are wrong', async () => {
    const refused = (typed: Record<string, string>) =>
      saveTyped(base.db, typedServer, null, typed, writer).catch((error: unknown) => error);
    expect(await refused({ hostname: '', ipv4: '192.0.2', cpu_cores: '1,5', ram_gb: 'much' })).toMatchObject({
      code: 'validation_failed',
      fields: [
        { field: 'hostname', message: expect.any(String) },
        { field: 'hostname', message: 'must be a host name' },
        { field: 'ipv4', message: 'must be IPv4 addresses' },
        { field: 'cpu_cores', message: 'must be a whole number' },
        { field: 'ram_gb', message: 'must be a whole number' },
      ],
    });
    const service = await createService(base.db);
    const opened = { id: service.id, version: 0 };
    await expect(saveTyped(base.db, typedService, opened, { price: '1,119' }, writer)).rejects.toMatchObject({
      fields: [{ field: 'price', message: 'must be a number' }],
    });
  });

  test('of a new record never writes over another; nor does a changed number', async () => {
    const ada = await createCustomer(base.db, { customer_number: 'ADA', company: 'Ada' });
    const bob = await createCustomer(base.db, { company: 'Bob' });
    const typed = { customer_number: 'ada', company: 'Other' };
    const taken = { code: 'validation_failed', fields: [{ field: 'customer_number', message: 'is taken' }] };
    await expect(saveTyped(base.db, typedCustomer, null, typed, writer)).rejects.toMatchObject(taken);
    const opened = { id: bob.id, version: 0 };
    await expect(saveTyped(base.db, typedCustomer, opened, typed, writer)).rejects.toMatchObject(taken);
    const own = { id: ada.id, version: 0 };
    await saveTyped(base.db, typedCustomer, own, { ...typed, company: 'Ada Ltd' }, writer);
    expect((await readTyped(base.db, typedCustomer, ada.id)).typed.company).toBe('Ada Ltd');
  });

  test('goes on from what somebody else has stored, and keeps what was typed', () => {
    const opened = { city: 'Linz', street: 'A 1', phone: '1', email: 'a@x' };
    const typed = { city: 'Graz', street: 'A 1', phone: '2', email: 'a@x' };
    const stored = { city: 'Wels', street: 'B 2', phone: '1', email: 'a@x' };
    expect(mergeTyped(opened, typed, stored)).toEqual({
      typed: { city: 'Graz', street: 'B 2', phone: '2', email: 'a@x' },
      theirs: [
        { field: 'city', stored: 'Wels', typed: 'Graz' },
        { field: 'street', stored: 'B 2', typed: null },
      ],
    });
  });
});

describe('a step', () => {
  test('goes where the status allows it, from the version that was seen', async () => {
    const { id } = await createService(base.db, { status: 'active' });
    const step = (name: string, version: number) =>
      takeStep(base.db, serviceSteps, name, { id, version }, writer);
    await step('cancel', 0);
    const [cancelled] = await base.db.select().from(customerServices).where(eq(customerServices.id, id));
    expect(cancelled).toMatchObject({ status: 'cancelled', cancelled_at: NOW, version: 1 });
    await expect(step('resume', 0)).rejects.toMatchObject({ code: 'precondition_failed' });
    await expect(step('suspend', 1)).rejects.toMatchObject({ code: 'validation_failed' });
    await expect(step('toString', 1)).rejects.toMatchObject({ code: 'validation_failed' });
    await step('resume', 1);
    const [resumed] = await base.db.select().from(customerServices).where(eq(customerServices.id, id));
    expect(resumed).toMatchObject({ status: 'active', cancelled_at: null });
  });

  test('of a customer is one of those that its page offers', () => {
    expect(stepsFrom(customerSteps, 'active')).toEqual(['block', 'deactivate']);
    expect(stepsFrom(customerSteps, 'blocked')).toEqual(['unblock', 'deactivate']);
    expect(stepsFrom(customerSteps, 'inactive')).toEqual(['reactivate']);
  });
});

describe('deleting', () => {
  test('leaves the row as it was in the audit log', async () => {
    const { id } = await createCustomer(base.db, { company: 'Gone Ltd' });
    expect(await readState(base.db, customerKind, id)).toEqual({ version: 0, isReferredTo: false });
    await expect(deleteRecord(base.db, customerKind, { id, version: 1 }, writer)).rejects.toMatchObject({
      code: 'precondition_failed',
    });
    await deleteRecord(base.db, customerKind, { id, version: 0 }, writer);
    expect(await base.db.$count(customers, eq(customers.id, id))).toBe(0);
    const isIt = and(eq(auditLog.entity, 'customer'), eq(auditLog.entity_id, id));
    expect(await base.db.select().from(auditLog).where(isIt)).toMatchObject([
      { action: 'customer.delete', before: { company: 'Gone Ltd' }, after: null },
    ]);
    await expect(readState(base.db, customerKind, id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(deleteRecord(base.db, customerKind, { id, version: 0 }, writer)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('is refused where anything refers to the record', async () => {
    const invoice = await createInvoice(base.db);
    const stripe = await createStripeCustomer(base.db);
    const server = await createServer(base.db);
    const service = await createService(base.db, { server_id: server.id });
    await createSubscriptionItem(base.db, { customer_service_id: service.id });
    for (const [kind, id] of [
      [customerKind, invoice.customer_id],
      [customerKind, stripe.customer_id],
      [customerKind, service.customer_id],
      [serverKind, server.id],
      [serviceKind, service.id],
    ] as const) {
      expect(await readState(base.db, kind, id)).toEqual({ version: 0, isReferredTo: true });
      await expect(deleteRecord(base.db, kind, { id, version: 0 }, writer)).rejects.toMatchObject({
        code: 'conflict',
      });
    }
    expect(await base.db.$count(auditLog, eq(auditLog.action, 'customer.delete'))).toBe(1);
  });
});
