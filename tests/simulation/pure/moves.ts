import { checkUnique } from './constraints';
import type { ModelTables, RowOf } from './tables';

const SERIAL = /^[Kk](\d{1,15})$/;

/** As `insert_created_customer`: under the next free number that nobody has named. */
export function insertCreated(tables: ModelTables, row: RowOf<'customers'>, absent: string[]): void {
  const { customers, merged, links } = tables.rows;
  const noted = [...links.values()].flatMap(({ numbers }) => numbers.map((one) => one.number.toLowerCase()));
  const named = new Set([...absent, ...noted]);
  const serials = [...customers.values(), ...merged.values()].flatMap(({ customer_number }) => {
    const [, serial] = SERIAL.exec(customer_number) ?? [];
    return serial === undefined ? [] : [Number(serial)];
  });
  let serial = (serials.length > 0 ? Math.max(...serials) : 10_000) + 1;
  while (named.has(`k${serial}`)) serial += 1;
  const made = { ...row, customer_number: `K${serial}` };
  checkUnique(tables, 'customers', made);
  tables.put('customers', made.id, made);
}

/** As `move_stripe_customer`: all that a Stripe customer has. */
export function moveStripeCustomer(tables: ModelTables, moved: string, customer_id: number, now: Date): void {
  const { rows } = tables;
  const change = { customer_id, updated_at: now };
  const isMoved = (row: { stripe_customer_id: string | null; customer_id: number }) =>
    row.stripe_customer_id === moved && row.customer_id !== customer_id;
  for (const row of [...rows.subscriptions.values()].filter(isMoved)) {
    tables.put('subscriptions', row.id, { ...row, ...change, version: row.version + 1 });
  }
  for (const row of [...rows.invoices.values()].filter(isMoved)) {
    tables.put('invoices', row.id, { ...row, ...change, version: row.version + 1 });
  }
  for (const row of [...rows.payments.values()]) {
    const invoice = rows.invoices.get(row.invoice_id);
    if (invoice?.stripe_customer_id !== moved || row.customer_id === customer_id) continue;
    tables.put('payments', row.id, { ...row, ...change, version: row.version + 1 });
  }
}

/** The invoices of one subscription become another's. */
export function handOver(tables: ModelTables, from: number, subscription_id: number): void {
  for (const row of [...tables.rows.invoices.values()]) {
    if (row.subscription_id !== from) continue;
    tables.put('invoices', row.id, { ...row, subscription_id, version: row.version + 1 });
  }
}

/** As `remove_if_empty`: what sync made and nobody has edited, unless others came to it by its e-mail. */
export function removeIfEmpty(tables: ModelTables, id: number): void {
  for (const [key, link] of tables.rows.links) {
    if (link.customer_id !== id || link.linked_by !== 'email') continue;
    tables.put('links', key, { ...link, linked_by: 'created', version: link.version + 1 });
  }
  const { services, invoices, subscriptions, payments, links, merged } = tables.rows;
  const owned = [services, invoices, subscriptions, payments, links, merged];
  const isOwner = owned.some((table) =>
    [...(table as Map<unknown, { customer_id: number }>).values()].some((row) => row.customer_id === id),
  );
  if (!isOwner && !tables.edited.has(id)) tables.delete('customers', id);
}
