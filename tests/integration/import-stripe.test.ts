import { eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  auditLog,
  customers,
  mergedCustomers,
  monthAmounts,
  reconciliationRuns,
  stripeCustomers,
} from '@/db/schema';
import { createStripeClient } from '@/lib/runtime';
import { startStripeLocal } from '@/lib/stripe-local/server';
import { readUnconfirmedLinks, type UnconfirmedLink } from '@/lib/sync/staff/stripe-customers';
import { unquotedLines } from '../support/csv';
import { readRows } from '../support/database';
import { createCustomer, createStripeCustomer } from '../support/factories';
import { useFiles } from '../support/run-command';
import type { TestRuntime } from '../support/runtime';
import { useSync } from '../support/sync';
import { fillUnreadAccount } from '../support/unread-stripe';

const files = useFiles();

/** Sets up a Stripe account with four Stripe customers, and a function that runs the command in this process. */
function useAccount() {
  const sync = useSync({ withKey: true });
  beforeAll(() => fillUnreadAccount(sync.db, 36, sync.world));
  beforeEach(() => sync.api.faults.clear());
  return {
    sync,
    /**
     * Ids of the Stripe customers. One is linked by number. The e-mail addresses of the other three belong to one, two
     * or no customers.
     */
    ids: () => [...sync.world.customers.values()].map(({ id }) => id),
    run: (args: string[], more: { signal?: AbortSignal; runtime?: TestRuntime } = {}) =>
      files.run(sync.db, 'import stripe', ['stripe', ...args], { runtime: sync.runtime, ...more }),
    async linkOf(id = '') {
      const link = await sync.linkOf(id);
      return link && { customer_id: link.customer_id, linked_by: link.linked_by };
    },
  };
}

describe('the first import of a Stripe account', () => {
  const at = useAccount();
  const idOf = async (number: string) =>
    (await at.sync.db.select().from(customers).where(eq(customers.customer_number, number)))[0]?.id;

  const links = () => unquotedLines(files.read('links.csv').replace('\ufeff', '').trimEnd());

  test('the first Stripe import lists the Stripe customers that it cannot link by customer number', async () => {
    const { code, output } = await at.run(['--proposals', 'links.csv']);
    expect(code).toBe(0);
    for (const line of [
      ...[
        /^Run 1, completed: /m,
        /^subscription +12 +0 +0$/m,
        /^invoice +20 /m,
        /^payment +12 /m,
        /^refund +4 /m,
      ],
      /1 linked by customer number, 0 by staff; 0 by e-mail address, not confirmed; 3 as new customers\./,
      /payer-1@example.com +Payer payer-1@example.com +T1 +one customer has/,
      /payer-2@example.com .*– +2 customers have the e-mail address$/m,
      /payer-3@example.com .*– +no customer has the e-mail address$/m,
      /Not linked, with the e-mail address of exactly one customer: 1\./,
    ]) {
      expect(output.join('\n')).toMatch(line);
    }
    const [header, ...rows] = links();
    expect(header).toBe('stripe_customer_id,email,name,filed_under,customer_number,matches,reason');
    const cells = rows.map((row) =>
      row.replace(/^cus_\w+,payer-(.)@example\.com,/, '$1,').replace(/,K\d+,/, ',K,'),
    );
    expect(cells.sort()).toEqual([
      expect.stringMatching(/^1,Payer payer-1@example\.com,K,T1,1,one customer/),
      expect.stringMatching(/^2,.*,K,,2,2 customers have/),
      expect.stringMatching(/^3,.*,K,,0,no customer has/),
    ]);
  });

  test('the option --link-by-email links a Stripe customer only if exactly one customer has its e-mail address', async () => {
    const [, one, two, none] = at.ids();
    const { code, output } = await at.run(['--link-by-email']);
    expect([code, output]).toEqual([0, expect.arrayContaining(['By e-mail address: 1 linked, 0 refused.'])]);
    expect(await at.linkOf(one)).toEqual({ customer_id: await idOf('T1'), linked_by: 'staff' });
    for (const id of [two, none]) expect(await at.linkOf(id)).toMatchObject({ linked_by: 'created' });
    // Linking deleted the customer that sync had created. Its amounts of the recorded month now belong to T1.
    const ofT1 = eq(monthAmounts.customer_id, (await idOf('T1')) ?? 0);
    const amounts = await readRows(at.sync.db, monthAmounts, ofT1);
    expect(amounts.map(({ measure }) => measure)).toContain('age_open');
    const noted = await readRows(at.sync.db, auditLog, eq(auditLog.action, 'stripe_customer.link'));
    expect(noted).toMatchObject([{ actor_type: 'cli', actor_id: 'import', after: { customer: 'T1' } }]);
    expect((await at.run([])).output.join()).toContain(', completed: ');
    const run = await files.run(at.sync.db, 'reconcile', [], { runtime: at.sync.runtime });
    expect(run.output.at(-1)).toMatch(/ 0 changed, 0 failed\.$/);
  });

  test('npm run import -- stripe --link links the Stripe customers of its file, also by the number of a merged customer, and names each line that it refuses', async () => {
    const [, , two, none] = at.ids();
    const merged = { id: 900_001, customer_number: 'M2', customer_id: (await idOf('U2')) ?? 0 };
    await at.sync.db.insert(mergedCustomers).values(merged);
    const made = (await at.linkOf(none))?.customer_id;
    const edited = links().map((line) => {
      const cells = line.split(',');
      if (cells[0] === two) cells[4] = 'm2';
      if (cells[0] === none) cells[4] = cells[3] ?? ''; // This confirms the created customer.
      return cells.join(';');
    });
    const wrong = [`${none};;;K77;T0;;`, 'cus_nobody;;;K1;T0;;', `${none};;;K1;NONE;;`, 'cus_x;;;K1;"T0;;'];
    files.write('edited.csv', [...edited, ...wrong]);
    const { code, output } = await at.run(['--link', 'edited.csv']);
    expect(output.sort()).toEqual([
      'edited.csv: 2 linked, 1 linked before, 0 without a customer_number, 4 refused.',
      'line 5: It was linked to another customer meanwhile: look at it again.',
      'line 6: There is no Stripe customer cus_nobody.',
      'line 7: There is no customer NONE.',
      expect.stringMatching(/^line 8: has a quotation mark/),
    ]);
    expect(code).toBe(1);
    expect(await at.linkOf(two)).toEqual({ customer_id: await idOf('U2'), linked_by: 'staff' });
    expect(await at.linkOf(none)).toEqual({ customer_id: made, linked_by: 'staff' });
    files.write('edited.csv', edited);
    const again = 'edited.csv: 0 linked, 3 linked before, 0 without a customer_number, 0 refused.';
    expect(await at.run(['--link', 'edited.csv'])).toEqual({ code: 0, output: [again] });
  });
});

describe('unconfirmed links', () => {
  const at = useAccount();

  test('a proposed link is not clear while a recheck is due, if Stripe has not reported the e-mail address, or if another customer than the suggested one matches', async () => {
    const ours = await createCustomer(at.sync.db, { email: 'typed@example.com' });
    const other = await createCustomer(at.sync.db, { email: 'late@example.com' });
    const details = (email: string) => [
      { field: 'email' as const, value: { email }, source: 'customer' as const, at: null, by: null },
    ];
    const file = async (id: string, email: string, told: string, recheck_at: Date | null) => {
      const created = await createCustomer(at.sync.db, { email });
      const link = { stripe_customer_id: id, customer_id: created.id, linked_by: 'created' as const };
      await createStripeCustomer(at.sync.db, { ...link, details: details(told), recheck_at });
      return created.id;
    };
    await file('cus_typed', 'typed@example.com', 'other@example.com', null);
    await file('cus_late', 'late@example.com', 'late@example.com', at.sync.now());
    const earlier = { stripe_customer_id: 'cus_earlier', customer_id: ours.id };
    await createStripeCustomer(at.sync.db, { ...earlier, linked_by: 'email' });
    const made = await file('cus_made', 'both@example.com', 'both@example.com', null);
    const second = {
      stripe_customer_id: 'cus_second',
      customer_id: made,
      details: details('both@example.com'),
    };
    await createStripeCustomer(at.sync.db, { ...second, linked_by: 'email' });
    const imported = await createCustomer(at.sync.db, { email: 'both@example.com' });
    const links: UnconfirmedLink[] = [];
    for await (const some of readUnconfirmedLinks(at.sync.db)) links.push(...some);
    expect(links.map((link) => [link.stripe_customer_id, link.to, link.is_clear])).toEqual([
      ['cus_earlier', ours.id, false],
      ['cus_typed', ours.id, false],
      ['cus_late', other.id, false],
      ['cus_made', imported.id, true],
      ['cus_second', made, false],
    ]);
  });
});

describe('refused and interrupted imports from Stripe', () => {
  const at = useAccount();
  const isList = ({ path }: { path: string }) => path === '/v1/invoices';

  const DRY = '--dry-run cannot be combined with other options: it links no customers and writes no file.';
  const BARE = 'The column filed_under is missing: use the file that --proposals writes.';
  test.each([
    [['--dry-run', '--link-by-email'], DRY],
    [['--proposals', 'none/links.csv'], expect.stringMatching(/none does not exist\.$/)],
    [['--link', 'none.csv'], expect.stringMatching(/none\.csv does not exist\.$/)],
    [['--link', 'bare.csv'], BARE],
    [['--map', 'a=b'], "Unknown option '--map': see --help."],
  ])('a Stripe import with the arguments %j is refused', async (args, sentence) => {
    files.write('bare.csv', 'stripe_customer_id,customer_number\ncus_1,K1\n');
    expect(await at.run(args)).toEqual({ code: 1, output: [sentence] });
  });

  test('a Stripe import is refused if the API key is missing or invalid, or if Stripe does not answer', async () => {
    const outputWith = async (stripe: TestRuntime['stripe']) =>
      (await at.run([], { runtime: { ...at.sync.runtime, stripe } })).output.join();
    expect(await outputWith(null)).toBe('STRIPE_SECRET_KEY is not set: Stripe cannot be asked.');
    const wrong = createStripeClient('sk_test_wrong', at.sync.api.url, 10_000);
    const refused = 'Stripe refuses STRIPE_SECRET_KEY: take one that its dashboard shows as active.';
    expect(await outputWith(wrong)).toBe(refused);
    at.sync.api.faults.add({ fault: { kind: 'reset' } });
    const silent = /^Stripe does not answer \(stripe_\w+\): try again later\.$/;
    expect(await outputWith(at.sync.runtime.stripe)).toMatch(silent);
    expect(await at.sync.db.select().from(reconciliationRuns)).toEqual([]);
  });

  test('an interrupted Stripe import continues where it stopped', async () => {
    const stop = new AbortController();
    const fault = { kind: 'hold' as const, until: async () => stop.abort() };
    at.sync.api.faults.add({ when: isList, fault, times: 1 });
    const stopped = await at.run([], { signal: stop.signal });
    const output = [
      expect.stringMatching(/^Stopped: the changes so far are kept. Run the same command again/),
    ];
    expect(stopped).toEqual({ code: 130, output });
    const before = at.sync.api.requests.length;
    expect((await at.run([])).output.join('\n')).toMatch(/^Run 1, completed: /m);
    const paths = at.sync.api.requests.slice(before).map(({ path }) => path);
    expect(paths).not.toContain('/v1/subscriptions');
  });

  test('a Stripe import links no customer by e-mail if reading from Stripe fails', async () => {
    at.sync.api.faults.add({ when: isList, fault: { kind: 'status', status: 500, shouldRetry: false } });
    const { code, output } = await at.run(['--link-by-email']);
    expect([code, output.join('\n')]).toEqual([1, expect.stringMatching(/^Run \d+, failed: /m)]);
    expect(output).toContain(
      'Not everything at Stripe could be read (stripe_api). Run the same command again later to do the rest. No customers were linked by e-mail address.',
    );
    const byStaff = eq(stripeCustomers.linked_by, 'staff');
    expect(await at.sync.db.$count(stripeCustomers, byStaff)).toBe(0);
  });

  test('a Stripe import is refused while another run has recent heartbeats, and continues a run without them', async () => {
    const started_at = at.sync.now();
    const lease = { trigger: 'schedule', started_at, heartbeat_at: started_at } as const;
    await at.sync.db.insert(reconciliationRuns).values(lease);
    const running = eq(reconciliationRuns.status, 'running');
    const [{ id } = { id: 0 }] = await readRows(at.sync.db, reconciliationRuns, running);
    let beats = 0;
    let lastBeat: Promise<unknown> = Promise.resolve();
    const beating = setInterval(() => {
      const heartbeat_at = new Date(started_at.getTime() + ++beats);
      lastBeat = at.sync.db.update(reconciliationRuns).set({ heartbeat_at }).where(running).execute();
    }, 200);
    const refused = await at.run([]).finally(() => clearInterval(beating));
    // A heartbeat that arrives later would make the next call refuse too.
    await lastBeat;
    const output = [`Run ${id} is already under way: try again when it has ended.`];
    expect(refused).toEqual({ code: 1, output });
    const waiting = at.run([]);
    setTimeout(() => at.sync.later(600), 300);
    expect((await waiting).output.join('\n')).toContain(`Run ${id}, completed: `);
  });

  test('a Stripe import with the API key of another account is refused', async () => {
    await at.sync.db.delete(reconciliationRuns);
    const secretKey = 'sk_test_other';
    const other = await startStripeLocal({ world: await fillUnreadAccount(at.sync.db, 0), secretKey });
    const stripe = createStripeClient(secretKey, other.url, 10_000);
    const { code, output } = await at.run([], { runtime: { ...at.sync.runtime, stripe } });
    await other.close();
    const sentence = expect.stringMatching(/^Stripe knows none of the Stripe customers that/);
    expect([code, output]).toEqual([1, [sentence]]);
    expect(await at.sync.db.select().from(reconciliationRuns)).toEqual([]);
  });
});
