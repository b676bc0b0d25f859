import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import * as health from '@/app/api/health/route';
import * as webhook from '@/app/api/stripe/webhook/route';
import type { Database } from '@/db/database';
import { stripeEvents, webhookRefusals } from '@/db/schema';
import { listTasks } from '@/lib/overview/list-tasks';
import { useApi } from '../support/api';
import { deliver, finalized, NOON, signatureOf, toEvent, WEBHOOK_SECRET } from '../support/stripe-events';

const CRON_SECRET = 'a-secret-of-the-cron-job';
const server = useApi(
  { '/api/stripe/webhook': webhook, '/api/health': health },
  { STRIPE_WEBHOOK_SECRET: `whsec_old,${WEBHOOK_SECRET}`, CRON_SECRET },
);

let drawn = 0;
const draw = () => toEvent(finalized('in_1'), ++drawn);
const at = (seconds: number) => new Date(server.runtime.now().getTime() + seconds * 1000);
const answerTo = (event: unknown, options: { header?: string; body?: string } = {}) =>
  deliver(server.url, event, at(0), options);
const refusal = { status: 400, body: { error: 'Invalid signature' } };
const tasks = () => listTasks(server.runtime.db, at(0), server.runtime.env);

describe('refused deliveries', () => {
  /**
   * Sends a delivery.
   *
   * @param off seconds by which our clock is ahead of Stripe's clock
   */
  const send = (secret: string, off = 0) => {
    const object = { id: 'po_1', object: 'payout' };
    const created = Math.floor(Date.now() / 1000); // A refusal has the time of the database, not of the test clock.
    const event = toEvent({ type: 'payout.paid', object, created }, ++drawn);
    return answerTo(event, { header: signatureOf(JSON.stringify(event), at(-off), secret) });
  };

  async function refuse(times: number, secret = 'whsec_wrong', off = 0): Promise<void> {
    for (let i = 0; i < times; i += 1) expect(await send(secret, off)).toEqual(refusal);
  }
  /** Sends ten deliveries that are refused, and waits until their number is stored. */
  async function refuseTen(...given: [secret?: string, off?: number]): Promise<void> {
    await refuse(10, ...given);
    await written(1);
    minute();
    await written(10);
  }

  async function ask() {
    server.later(10);
    const headers = { authorization: `Bearer ${CRON_SECRET}` };
    const { status, checks, alerts } = await (await fetch(`${server.url}/api/health`, { headers })).json();
    return { status, webhook: checks.webhook, codes: alerts.map(({ code }: { code: string }) => code) };
  }

  /** Waits until the stored number of refused deliveries is `count`. */
  const written = (count: number) =>
    expect
      .poll(() => server.runtime.db.select().from(webhookRefusals), { timeout: 20_000 })
      .toMatchObject([{ count }]);

  /**
   * Callbacks of one-minute timers, which `minute` runs. Fake timers cannot be used, because they would also make slow
   * connections time out.
   */
  let waiting: (() => void)[] = [];
  const minute = () => {
    const due = waiting;
    waiting = [];
    for (const run of due) run();
  };
  let writes: MockInstance<Database['execute']>;

  beforeEach(() => {
    const wait = globalThis.setTimeout;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms?: number, ...rest: []) => {
      if (ms !== 60_000) return wait(run, ms, ...rest);
      waiting.push(run);
      return wait(() => {}, 0);
    }) as typeof setTimeout);
    writes = vi.spyOn(server.runtime.db, 'execute');
  });

  afterEach(async () => {
    minute(); // End the pause between writes, so that the first refusal of the next test is written immediately.
    minute();
    await Promise.allSettled(writes.mock.results.map(({ value }) => value));
    vi.restoreAllMocks();
    await server.runtime.db.delete(webhookRefusals);
  });

  test.each([
    ['no signature', null],
    ['an empty signature', ''],
    ['a signature without a timestamp', `v1=${'0'.repeat(64)}`],
    ['a signature that is too short', 't=1,v1=00'],
    ['a signature of the scheme v0', `t=1,v0=${'0'.repeat(64)}`],
  ])('webhook requests with %s raise no alert', async (_, signature) => {
    for (let i = 0; i < 12; i += 1) {
      const { status } = await fetch(`${server.url}/api/stripe/webhook`, {
        method: 'POST',
        body: '{}',
        headers: signature === null ? {} : { 'stripe-signature': signature },
      });
      expect(status).toBe(400);
    }
    await refuse(1);
    await written(1);
    expect(await ask()).toEqual({ status: 'ok', webhook: 'ok', codes: [] });
  });

  test('ten webhook deliveries with an invalid signature raise an alert that the next accepted delivery ends', async () => {
    await refuse(9);
    await written(1);
    minute();
    await written(9);
    expect(await ask()).toEqual({ status: 'ok', webhook: 'ok', codes: [] });

    await refuse(1);
    minute();
    await written(10);
    expect(await ask()).toEqual({ status: 'degraded', webhook: 'refuses', codes: ['webhook_refuses'] });
    expect((await tasks())[0]?.message).toBe(
      '10 deliveries to Stripe’s webhook had no valid signature, and no delivery has been accepted since: ' +
        'compare STRIPE_WEBHOOK_SECRET with the signing secret of the endpoint.',
    );

    expect((await send(WEBHOOK_SECRET)).status).toBe(200);
    expect(await ask()).toEqual({ status: 'ok', webhook: 'ok', codes: [] });
    expect(await tasks()).toEqual([]);

    await refuse(1);
    minute();
    await written(1);
  });

  test('refused webhook deliveries are logged at most once a minute', async () => {
    const warned = vi.spyOn(server.runtime.log, 'warn');
    const tellings = () =>
      warned.mock.calls.map(([line]) => (line as unknown as { refused: number }).refused);
    await refuse(40);
    expect(tellings()).toEqual([1]);
    expect(writes).toHaveBeenCalledTimes(1);
    await written(1);
    minute();
    expect(tellings()).toEqual([1, 39]);
    await written(40);
    await refuse(5);
    minute();
    expect(tellings()).toEqual([1, 39, 5]);
    await written(45);
    minute();
    minute();
    expect(writes).toHaveBeenCalledTimes(3);
  });

  test('refused webhook deliveries are still counted after storing their count fails once', async () => {
    writes.mockRejectedValueOnce(new Error('gone'));
    await refuse(3);
    minute();
    await written(3);
  });

  test('every webhook signature is refused while no secret is set, and staff see the reason', async () => {
    const { log, env } = server.runtime;
    const warned = vi.spyOn(log, 'warn');
    const secrets = env.stripe.webhookSecrets;
    env.stripe.webhookSecrets = [];
    await refuseTen('');
    const lines = warned.mock.calls.map(([, line]) => line);
    expect(new Set(lines)).toEqual(new Set(['webhook refused deliveries: STRIPE_WEBHOOK_SECRET is not set']));
    expect((await tasks())[0]?.message).toBe(
      '10 deliveries to Stripe’s webhook were refused because STRIPE_WEBHOOK_SECRET is not set: ' +
        'set it to the signing secret of the endpoint.',
    );
    await refuse(1, WEBHOOK_SECRET);
    env.stripe.webhookSecrets = secrets;
  });

  test.each([
    [600, 'ahead of', '10 minutes'],
    [-301, 'behind', '301 seconds'],
    [86_400, 'ahead of', '1440 minutes'],
  ])(
    'staff see that webhook deliveries were refused because the clock is off by %d seconds',
    async (off, where, by) => {
      const warned = vi.spyOn(server.runtime.log, 'warn');
      await refuseTen(WEBHOOK_SECRET, off);
      const differ = 'their signatures are valid, but their times differ from the clock of this server';
      expect(warned.mock.calls[0]).toEqual([
        { refused: 1, clock_ahead_seconds: off },
        `webhook refused deliveries: ${differ}`,
      ]);
      const clock = `the clock of this server is ${by} ${where} Stripe’s: synchronize it, for example with NTP.`;
      expect((await tasks())[0]?.message).toBe(
        `10 deliveries to Stripe’s webhook were refused because ${clock}`,
      );
      // A stranger's delivery says nothing about the clock. After an accepted delivery, only the secret can be wrong.
      await send('whsec_wrong');
      expect((await tasks())[0]?.message).toContain(clock);
      await send(WEBHOOK_SECRET);
      await refuse(10);
      minute();
      await written(11);
      expect((await tasks())[0]?.message).toMatch(/had no valid signature/);
    },
  );

  test('the alert about refused webhook deliveries ends three days after the last refusal', async () => {
    const { db } = server.runtime;
    await db.delete(stripeEvents); // An accepted delivery would end the alert.
    const last = (days: number) => new Date(Date.now() - days * 86_400_000);
    await db.insert(webhookRefusals).values({ id: 1, count: 10, since: last(9), last_at: last(2.9) });
    expect(await tasks()).toHaveLength(1);
    await db.update(webhookRefusals).set({ last_at: last(3.1) });
    expect(await tasks()).toEqual([]);
  });
});

describe('webhook signatures', () => {
  const [T, HEX] = [`t=${NOON}`, '0'.repeat(64)];
  // Malformed signature headers, separated by spaces.
  const malformed = `hello t= t=,v1= v1= , = t ${T} ${T}, ${T},v1 ${T},v1= ${T},v1=,v1= ${T},v0=${HEX} ${T},v1=0
    ${T},v1=${HEX}0 ${T},v1=${'z'.repeat(64)} ${T},v1=${'\u00e9'.repeat(64)} t=-${NOON},v1= ${T}.5,v1=
    t=0x69b6a140,v1= ${T}v1= ${T};v1= T=${NOON},V1= ${T},v1=${HEX},v1=`;

  test.each<[string, (payload: string) => { header?: string; body?: string }]>([
    ['no signature', () => ({ header: '' })],
    ...malformed
      .split(/\s+/)
      .map((header): [string, () => object] => [`the signature header ${header}`, () => ({ header })]),
    ['an empty body and a signature of another body', () => ({ body: '' })],
    ['an empty body and an empty signature', () => ({ body: '', header: `${T},v1=` })],
    ['a timestamp in words', (body) => ({ header: signatureOf(body, at(0)).replace(/t=\d+/, 't=abc') })],
    ['two timestamps', (body) => ({ header: `${T},${signatureOf(body, at(301))}` })],
    ['the signature of another secret', (body) => ({ header: signatureOf(body, at(0), 'whsec_other') })],
    ['a signature made 301 s ago', (body) => ({ header: signatureOf(body, at(-301)) })],
    ['a signature dated 301 s in the future', (body) => ({ header: signatureOf(body, at(301)) })],
    ['a byte changed after signing', (body) => ({ body: body.replace('finalized', 'finalizeD') })],
    ['a byte order mark before its body', (body) => ({ body: `\uFEFF${body}` })],
  ])('a webhook delivery with %s is refused and not stored', async (_, options) => {
    const event = draw();
    const answer = await answerTo(event, options(JSON.stringify(event)));
    expect(answer).toEqual(refusal);
    expect(await server.runtime.db.$count(stripeEvents, eq(stripeEvents.id, event.id))).toBe(0);
  });

  test.each<[string, (payload: string) => string]>([
    ['a signature of the previous secret', (payload) => signatureOf(payload, at(0), 'whsec_old')],
    ['a signature made 300 s ago', (payload) => signatureOf(payload, at(-300))],
    ['an invalid signature after the valid one', (payload) => `${signatureOf(payload, at(0))},v1=${HEX}`],
  ])('a webhook delivery with %s is accepted', async (_, sign) => {
    const event = draw();
    expect((await answerTo(event, { header: sign(JSON.stringify(event)) })).status).toBe(200);
  });

  const SNAPSHOT = '"object":"event","type":"invoice.paid","created":1773576000';
  test.each([
    'not json',
    'null',
    '[]',
    '{"id":"evt_x"}',
    `{"id":"evt_x",${SNAPSHOT}}`,
    `{"id":"evt_x",${SNAPSHOT},"data":{}}`,
    '{"id":"evt_x","object":"v2.core.event","type":"v1.invoice.paid","created":"soon"}',
    '{"object":"v2.core.event","type":"v1.invoice.paid","created":"2026-03-15T12:00:00.000Z"}',
  ])('the signed webhook body %s is refused as an invalid event', async (body) => {
    const warned = vi.spyOn(server.runtime.log, 'warn');
    for (let i = 0; i < 2; i += 1) {
      const answer = await answerTo({}, { body, header: signatureOf(body, at(0)) });
      expect(answer).toEqual({ status: 400, body: { error: 'Invalid payload' } });
    }
    const counts = warned.mock.calls.map(([line]) => (line as unknown as { unreadable: number }).unreadable);
    expect(counts).toEqual([counts[0], (counts[0] ?? 0) + 1]);
    expect(warned.mock.calls[0]?.[1]).toBe('webhook refused a signed body that is not an event');
    expect(JSON.stringify(warned.mock.calls)).not.toContain('evt_x');
    vi.restoreAllMocks();
  });

  test('a signed webhook body over 1 MiB is answered with 413', async () => {
    const body = JSON.stringify({ ...draw(), pad: 'x'.repeat(1_100_000) });
    expect((await answerTo({}, { body, header: signatureOf(body, at(0)) })).status).toBe(413);
  });
});
