import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { payments, toolCalls } from '@/db/schema';
import { commandActor } from '@/lib/audit/record-audit';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { createInvoice } from '../support/factories';
import { ensureBuild, START } from '../support/next-build';
import { type Command, freePort, startCommand } from './support/commands';
import { type Outcome, RawClient } from './support/raw-client';
import { createDatabase } from './support/site-database';

const WRITERS = 18;
/** Of a page, which Next answers. */
const READERS = 2;
const INVOICES = 5;
/** Payments that are answered before the signal, so that it comes in the middle: nobody stops by himself. */
const BEFORE = 200;
const LONGEST_STOP_MS = 10_000;

describe('npm start, told to stop while payments are recorded', () => {
  const folder = mkdtempSync(join(tmpdir(), 'w5t-stop-'));
  const invoices: { id: number; customer_id: number }[] = [];
  let database: Awaited<ReturnType<typeof createDatabase>> | undefined;
  let start: Command | undefined;
  let port: number;
  let token: string;

  beforeAll(async () => {
    await ensureBuild();
    database = await createDatabase(folder, async (db) => {
      for (let i = 0; i < INVOICES; i += 1) invoices.push(await createInvoice(db));
      const made = {
        name: 'stop',
        scopes: ['payments:write' as const, 'servers:read' as const],
        expires_at: null,
      };
      token = (await createAccessToken(db, { ...made, created_by: commandActor('test') }, randomBytes)).token;
    });
    port = await freePort();
    const env = { ...database.env, DATA_DIR: folder, PORT: String(port), LOG_LEVEL: 'error' };
    start = startCommand([process.execPath, START], env);
    await vi.waitFor(() => expect(start?.output()).toContain('Listening'), { timeout: 60_000 });
    expect((await fetch(`http://127.0.0.1:${port}/sign-in`)).status).toBe(200);
  }, 400_000);

  afterAll(async () => {
    start?.child.kill('SIGKILL'); // where the test failed; its child ends by itself
    await start?.exited;
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('it loses no payment that it answered, and gives no half answer', async () => {
    const written = new Map<string, Outcome>();
    const ends: Outcome[] = [];
    const read: Outcome[] = [];
    let toldAt = 0;
    const writer = async (_: unknown, name: number) => {
      const client = new RawClient(port);
      for (let i = 0; ; i += 1) {
        const reference = `STOP-${name}-${i}`;
        const outcome = await record(client, reference, i);
        if (typeof outcome === 'string') return ends.push(outcome);
        written.set(reference, outcome);
        if (toldAt || written.size < BEFORE) continue;
        toldAt = performance.now(); // once: nobody comes in between
        await ask();
        toldAt = performance.now();
        start?.child.kill('SIGTERM');
      }
    };
    const reader = async () => {
      const client = new RawClient(port);
      for (;;) {
        const outcome = await client.send('GET /sign-in');
        if (typeof outcome === 'string') return ends.push(outcome);
        read.push(outcome);
      }
    };
    await Promise.all([
      ...Array.from({ length: WRITERS }, writer),
      ...Array.from({ length: READERS }, reader),
    ]);
    expect(await start?.exited).toBe(0);
    expect(performance.now() - toldAt).toBeLessThan(LONGEST_STOP_MS);
    expect(ends).toEqual(Array(WRITERS + READERS).fill('none'));
    expect(new Set(written.values())).toEqual(new Set([201]));
    expect(new Set(read)).toEqual(new Set([200]));
    const kept = await database?.look((db) => db.select({ name: payments.payment_reference }).from(payments));
    const names = new Set(kept?.map(({ name }) => name));
    expect([...written.keys()].filter((reference) => !names.has(reference))).toEqual([]);
    const calls = await database?.look((db) => db.select({ tool: toolCalls.tool }).from(toolCalls));
    expect(calls).toEqual([{ tool: 'list-servers-tool' }]);
  }, 60_000);

  /** A call of a tool, the last thing before the signal. */
  async function ask(): Promise<void> {
    const params = { name: 'list-servers-tool', arguments: {} };
    const { status } = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    expect(status).toBe(200);
  }

  /** A payment of 1. */
  function record(client: RawClient, payment_reference: string, turn: number): Promise<Outcome> {
    const { id, customer_id } = invoices[turn % INVOICES] ?? {};
    const payment = { invoice_id: id, customer_id, amount: 1, payment_date: '2026-03-10', payment_reference };
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    return client.send('POST /api/w5t/payments', headers, JSON.stringify(payment));
  }
});
