import { randomBytes, randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import {
  bankEntries,
  bankStatements,
  reconciliationChanges,
  reconciliationFailures,
  reconciliationRuns,
  servers,
} from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { commandActor } from '@/lib/audit/audit-log';
import { addDays } from '@/lib/dates';
import { addStaffUser } from '@/lib/staff/manage-staff';
import { tellStaff } from '@/lib/tasks/staff-tasks';
import type { Scope } from '@/lib/tokens/access-token';
import { createAccessToken } from '@/lib/tokens/manage-access-tokens';
import {
  createCustomer,
  createInvoice,
  createPayment,
  createRefund,
  createSalesDocument,
  createServer,
  createService,
  createStoredEvent,
  createStripeCustomer,
  createSubscription,
  createSubscriptionItem,
  createTransfer,
} from '../../support/factories';

const password = 'correct horse battery';
export const STAFF = { email: 'grace@example.com', name: 'Grace Hopper', password };
export const ADMIN = { email: 'root@example.com', name: 'Radia Perlman', password };
export const OTHER = { email: 'other@example.com', name: 'Mary Jackson', password };
/** This member of staff signs in with a passkey. */
export const KEYS = { email: 'keys@example.com', name: 'Katherine Johnson', password };
/** This member of staff signs in with codes of an authenticator app. */
export const CODES = { email: 'codes@example.com', name: 'Dorothy Vaughan', password };

const ACTOR = commandActor('test');
const MINUTE = 60_000;
const NOW = new Date();
const TODAY = NOW.toISOString().slice(0, 10);
/** Time zone of the sample data and of the sites that show it. */
export const TIME_ZONE = zoneOfNoon(NOW);
/** Monday of next week, as a calendar date. */
const MONDAY = addDays(TODAY, 7 - ((new Date(`${TODAY}T00:00:00Z`).getUTCDay() + 6) % 7));

export type Company = Awaited<ReturnType<typeof fillCompany>>;

/**
 * Adds the sample company as of today, with staff, a token, runs, and records for individual test files.
 *
 * @returns ids and secrets that the tests need
 */
export async function fillCompany(db: Database) {
  await seedDatabase(db, { today: TODAY, timeZone: TIME_ZONE });
  const add = (who: typeof STAFF, role: 'admin' | 'staff' = 'staff') =>
    addStaffUser({ db, newId: randomUUID, randomBytes }, { ...who, role }, ACTOR);
  const { id: adminId } = await add(ADMIN, 'admin');
  const { id: otherId } = await add(OTHER);
  for (const who of [STAFF, KEYS, CODES]) await add(who);
  const scopes: Scope[] = ['payments:read', 'payments:write'];
  const erp = { name: 'ERP', scopes, expires_at: null, created_by: ACTOR };
  await fillDesk(db);
  await fillBroken(db);
  await fillAsked(db);
  return {
    /** Date on which the data was added. The sites keep it as their date, even if the run goes on after midnight. */
    today: TODAY,
    monday: MONDAY,
    timeZone: TIME_ZONE,
    adminId,
    otherId,
    token: (await createAccessToken(db, erp, randomBytes)).token,
    runId: await insertRuns(db, NOW),
    wren: await fillWren(db),
    form: await fillForms(db),
    ...(await fillErasable(db)),
    /** Tests only read the payments of `paid`, but change the payments of `changed`. */
    paid: await fillPayments(db, 'E2E'),
    changed: await fillTask(db, await fillPayments(db, 'W2E')),
  };
}

/**
 * Returns a time zone in which it is noon and the date of UTC, so that neither the daily reconciliation at 03:40 nor
 * midnight comes during the tests.
 */
export function zoneOfNoon(now: Date): string {
  const hours = 12 - now.getUTCHours();
  return hours === 0 ? 'UTC' : `Etc/GMT${hours < 0 ? '+' : '-'}${Math.abs(hours)}`;
}

/** Inserts two reconciliation runs. The later one has changes and a failure. @returns the id of the later run */
async function insertRuns(db: Database, now: Date): Promise<number> {
  const run = (minutesAgo: number) => {
    const started_at = new Date(now.getTime() - minutesAgo * MINUTE);
    const finished_at = new Date(started_at.getTime() + MINUTE);
    const times = { started_at, heartbeat_at: finished_at, finished_at };
    return { ...times, phase: 'done' as const, lists_completed: true, objects_checked: 412 };
  };
  const counts = { changes_count: 3, failures_count: 1 };
  const [, latest] = await db
    .insert(reconciliationRuns)
    .values([
      { ...run(1440), trigger: 'schedule', status: 'completed' },
      { ...run(90), ...counts, trigger: 'staff', started_by: STAFF.email, status: 'completed_with_errors' },
    ])
    .returning({ id: reconciliationRuns.id });
  if (!latest) throw new Error('insert returned no row');
  const run_id = latest.id;
  const subscription = { run_id, entity: 'subscription' as const, entity_id: 12 };
  const invoice = { run_id, entity: 'invoice' as const };
  const paid = { before: null, after: '2026-11-20T03:12:44.000Z', outcome: 'fixed' as const };
  const gone = { field: 'provider_gone_at', before: null, after: null, outcome: 'reported' as const };
  await db.insert(reconciliationChanges).values([
    {
      ...{ ...subscription, stripe_id: 'sub_1QxYvL2eZvKYlo2C', field: 'status' },
      ...{ before: 'active', after: 'past_due', outcome: 'fixed' },
    },
    { ...invoice, entity_id: 31, stripe_id: 'in_1QxZ8h2eZvKYlo2CfWq7pLmT', field: 'paid_at', ...paid },
    { ...invoice, entity_id: null, stripe_id: 'in_1QxZ8h2eZvKYlo2CgGone000', ...gone },
  ]);
  const failed = { object: 'invoice', stripe_id: 'in_1QxZ8h2eZvKYlo2Cfailed' } as const;
  await db.insert(reconciliationFailures).values({ run_id, ...failed, error_code: 'stripe_timeout' });
  return run_id;
}

/**
 * Creates the customer K-WREN, which owes 300.00 EUR and has twelve payments, an offer, a service, a subscription and a
 * Stripe customer with an event. Tests only read these records.
 */
async function fillWren(db: Database): Promise<number> {
  const { id: customer_id } = await createCustomer(db, {
    ...{ customer_number: 'K-WREN', company: 'Zaunkönig & Söhne', email: 'Office@Wren-and-Sons.example' },
    ...{ city: 'Graz', country: 'AT' },
  });
  const owed = { customer_id, amount_due: '100' };
  await createInvoice(db, { ...owed, number: 'WREN-1', status: 'overdue', invoice_date: '2026-01-01' });
  await createInvoice(db, { ...owed, number: 'WREN-2', amount_due: '200' });
  const paid = await createInvoice(db, { customer_id, number: 'WREN-0', status: 'paid', amount_due: '0' });
  for (let i = 1; i <= 12; i++) {
    const payment_date = `2026-02-${String(i).padStart(2, '0')}`;
    const on = { customer_id, invoice_id: paid.id, payment_date };
    await createPayment(db, { ...on, payment_reference: `WREN-PAID-${i}` });
  }
  await createSalesDocument(db, { customer_id, document_number: 'WREN-OFFER' });
  await createService(db, { customer_id, service_number: 'S-WREN', domain: 'wren-and-sons.example' });
  await createSubscription(db, { customer_id, stripe_subscription_id: 'sub_wren' });
  const stripe_customer_id = 'cus_wren';
  await createStripeCustomer(db, { stripe_customer_id, customer_id, linked_by: 'staff' });
  await createStoredEvent(db, {
    ...{ id: 'evt_wren', type: 'invoice.payment_failed', object_id: 'in_wren', stripe_customer_id },
    ...{ outcome: 'stale', stripe_created: new Date('2026-02-11T08:00:00Z') },
  });
  return customer_id;
}

/**
 * Creates the customer K-DESK. It has an invoice made from an offer, an invoice paid in part outside Stripe, a service
 * with a server and a subscription, and a Stripe customer.
 */
async function fillDesk(db: Database) {
  const { id: customer_id } = await createCustomer(db, { customer_number: 'K-DESK', company: 'Desk <i>' });
  const ending = { next_billing_date: '2031-03-10', cancel_at: new Date('2031-03-10T12:00:00Z') };
  const at = { customer_id, stripe_subscription_id: 'sub_desk', ...ending };
  const subscription = await createSubscription(db, at);
  const overdue = { number: 'DESK-1', status: 'overdue' as const, subscription_id: subscription.id };
  const invoice = await createInvoice(db, { customer_id, ...overdue });
  await createSalesDocument(db, {
    ...{ customer_id, document_number: 'AN-DESK', status: 'converted' },
    converted_to_invoice_id: invoice.id,
  });
  await createInvoice(db, {
    ...{ customer_id, number: 'DESK-0', status: 'paid', stripe_invoice_id: 'in_desk' },
    ...{ total: '119', amount_paid: '89', amount_off_stripe: '89', amount_due: '0' },
  });
  const { id: server_id } = await createServer(db, { hostname: 'aa.desk.example', ipv4: ['192.0.2.9'] });
  const of = { customer_id, service_number: 'S-DESK', server_id, domain: 'desk.example' };
  const service = await createService(db, of);
  await createSubscriptionItem(db, { subscription_id: subscription.id, customer_service_id: service.id });
  await createStripeCustomer(db, { stripe_customer_id: 'cus_new', customer_id, linked_by: 'created' });
}

/**
 * Creates the records for tests of forms, such as the customer K-FORM with a service on a server, the customer K-ALONE
 * without records, and a draft of each kind.
 */
async function fillForms(db: Database) {
  const { id: customer } = await createCustomer(db, { customer_number: 'K-FORM', company: 'Form & Co' });
  const { id: alone } = await createCustomer(db, { customer_number: 'K-ALONE', company: 'Alone' });
  const { id: server } = await createServer(db, { hostname: 'form.example.net' });
  const about = { customer_id: customer, server_id: server, service_number: 'S-FORM' };
  const { id: service } = await createService(db, about);
  const { id: invoice } = await createInvoice(db, { customer_id: customer, status: 'draft', number: null });
  const { id: unpaid } = await createInvoice(db, { customer_id: customer, number: 'FORM-1' });
  const { id: document } = await createSalesDocument(db, { customer_id: customer, status: 'draft' });
  const { id: pending } = await createPayment(db, { status: 'pending' });
  const { id: completed } = await createPayment(db);
  await createCustomer(db, { customer_number: 'K-DOC', company: 'Weiß & Söhne' });
  const free = { customer_number: 'K-FREE', company: 'Freibrief Verein' };
  await createCustomer(db, { ...free, currency: 'chf', tax_exempt: true });
  const walkers = { customer_number: 'K-WALK', company: 'Walkers & Co', email: 'accounts@walkers.example' };
  const { id: walker } = await createCustomer(db, walkers);
  await createInvoice(db, { customer_id: walker, number: 'WALK-1', total: '400', amount_due: '400' });
  await createRefund(db, { stripe_refund_id: 're_nobodys', issued_at: new Date() });
  const paidBack = [{ amount: '5.000', date: '2026-03-12' }];
  const sepa = { reference: 'SEPA-FORM', credit: '45', paid_back: paidBack };
  const { id: transfer } = await createTransfer(db, sepa);
  const payer = { customer_number: 'K-SEPA', company: 'Sammelzahler GmbH' };
  const { id: spread } = await createCustomer(db, payer);
  await createInvoice(db, { customer_id: spread, number: 'SEPA-1', due_date: '2026-02-01' });
  await createInvoice(db, { customer_id: spread, number: 'SEPA-2', total: '50', subtotal: '50', tax: '0' });
  const { id: ten } = await createCustomer(db, { customer_number: 'K-TEN', company: LONG_NAME });
  for (let at = 0; at < 10; at += 1) {
    const total = String(20 + at);
    const owed = { total, subtotal: total, tax: '0', amount_due: total };
    await createInvoice(db, { customer_id: ten, number: `TEN-100${at}`, ...owed });
  }
  return {
    ...{ customer, alone, server, service, invoice, unpaid, document, pending, completed, transfer, spread },
    statement: await insertStatement(db),
  };
}

/** A company name whose first word is very long, as in some German names. */
const LONG_NAME =
  'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft mbH & Co. KG';

/** Inserts a bank statement with a credit that names the invoice FORM-1, and an outgoing payment. */
async function insertStatement(db: Database): Promise<number> {
  const shared = { account: 'DE02120300000000202051', currency: 'eur' };
  const file = { file_name: 'october.xml', file_sha256: 'a', entry_count: 2 };
  const by = { actor_type: 'staff', actor_id: '1', actor_name: 'staff@example.com' } as const;
  const days = { first_day: '2026-02-01', last_day: '2026-02-28' };
  const period = { ...days, opening: '100', booked: '109', closing: '209' };
  const [made] = await db
    .insert(bankStatements)
    .values({ ...shared, ...file, ...by, ...period })
    .returning({ id: bankStatements.id });
  const entry = { ...shared, statement_id: made?.id ?? 0, day: '2026-02-10' };
  await db.insert(bankEntries).values([
    { ...entry, fingerprint: '1', amount: '119', name: 'Ada', purpose: 'Invoice FORM-1' },
    { ...entry, fingerprint: '2', amount: '-10', name: 'Shop', purpose: 'Paper' },
  ]);
  return entry.statement_id;
}

/**
 * Creates the customer K-GONE, which can be erased once its service has ended, and the duplicate customers K-OLD and
 * K-NEW.
 */
async function fillErasable(db: Database) {
  const { id: customer } = await createCustomer(db, { customer_number: 'K-GONE', company: 'Gone & Co' });
  const { id: service } = await createService(db, { customer_id: customer, service_number: 'S-GONE' });
  await createInvoice(db, { customer_id: customer, number: 'GONE-1', status: 'paid', amount_due: '0' });
  const twice = { company: 'Doppelt GmbH', email: 'twice@example.com' };
  const { id: old } = await createCustomer(db, { ...twice, customer_number: 'K-OLD', phone: '+43 1 2345' });
  await createService(db, { customer_id: old, service_number: 'S-OLD', name: 'Moved hosting' });
  await createCustomer(db, { ...twice, customer_number: 'K-NEW', city: 'Wien' });
  return { gone: { customer, service }, old };
}

/**
 * Creates a customer, an invoice and its 30 completed payments. If `name` is E2E, these are K-E2E, E2E-1, and payments
 * from E2E-000 of 100.00 EUR to E2E-029 of 71.00 EUR.
 */
async function fillPayments(db: Database, name: string) {
  const customer = await createCustomer(db, { customer_number: `K-${name}`, company: '=Weiß & Söhne' });
  const invoice = await createInvoice(db, { number: `${name}-1`, customer_id: customer.id });
  const ids: number[] = [];
  for (let i = 0; i < 30; i++) {
    const payment_reference = `${name}-${String(i).padStart(3, '0')}`;
    const on = { invoice_id: invoice.id, customer_id: customer.id, payment_date: '2026-01-10' };
    ids.push((await createPayment(db, { ...on, payment_reference, amount: String(100 - i) })).id);
  }
  return { invoice: invoice.id, ids };
}

/** Adds a staff task about a chargeback of the invoice. */
async function fillTask<Paid extends { invoice: number }>(db: Database, paid: Paid): Promise<Paid> {
  const message = 'The bank took back 71.00 EUR of invoice W2E-1: the customer owes 71.00 EUR.';
  const about = { entity: 'invoice' as const, entity_id: paid.invoice };
  await tellStaff(db, { kind: 'money_came_back', subject: 'dp_e2e', message, ...about });
  return paid;
}

/**
 * Creates the customer K-BROKEN with 1,500 payments. One of them cannot be read. The export reaches this payment only
 * after its first batch.
 */
async function fillBroken(db: Database) {
  const { id: customer } = await createCustomer(db, { customer_number: 'K-BROKEN' });
  const { id: invoice } = await createInvoice(db, { number: 'BROKEN-1', customer_id: customer });
  await db.execute(sql`
    insert into payments (invoice_id, customer_id, amount, payment_date, payment_reference, status, source)
    select ${invoice}::int, ${customer}::int, case when i = 1200 then 'NaN'::numeric else 5 end,
      '2019-01-01', 'BROKEN-' || i, 'failed', 'import'
    from generate_series(1, 1500) i order by i desc`);
}

/**
 * Creates the customer K-ASKED for tests of everyday questions, and puts a server into maintenance. Tests only read
 * these.
 */
async function fillAsked(db: Database) {
  const { id: customer_id } = await createCustomer(db, {
    customer_number: 'K-ASKED',
    company: 'Asked & Sons',
  });
  const overdue = { status: 'overdue' as const, total: '392', due_date: addDays(TODAY, -45) };
  await createInvoice(db, { ...overdue, customer_id, number: 'ASKED-OLD' });
  const { id } = await createInvoice(db, { customer_id, number: 'ASKED-NEW', status: 'paid' });
  await createSalesDocument(db, { customer_id, document_number: 'AN-ASKED-0815' });
  const payment_date = addDays(`${TODAY.slice(0, 7)}-01`, -3);
  await createPayment(db, { customer_id, invoice_id: id, payment_reference: 'ASKED-PAID', payment_date });
  const next_billing_date = addDays(MONDAY, 2);
  await createService(db, { customer_id, service_number: 'S-ASKED', next_billing_date });
  await db
    .update(servers)
    .set({ status: 'maintenance' })
    .where(eq(servers.id, sql`(select min(id) from servers)`));
}
