import { type Difference, differing, fits } from './oracle/values';
import type { Played } from './played';
import type { Left } from './stray-kinds';
import { isStray } from './strays';
import type { Tables } from './tables';

/** What strays left here, and nothing else. @param isAsked every one of them was asked for */
export function checkStrays(
  { strays, delivered, deeds }: Pick<Played, 'strays' | 'delivered' | 'deeds'>,
  tables: Tables,
  isAsked: boolean,
): Difference[] {
  const came = strays.filter(({ event }) => delivered.has(event.id));
  return came.flatMap(({ leaves }) => {
    const isWhole = strays.every((one) => !isSame(one.leaves, leaves) || delivered.has(one.event.id));
    if (!leaves || !isWhole) return [];
    const row = rowOf(tables, leaves);
    const isDeleted = deeds.deleted.has(leaves.id);
    if (leaves.table === 'payments' && isDeleted) {
      return row ? [{ what: `payment ${leaves.id}`, expected: null, actual: row }] : [];
    }
    // Of an invoice whose payment was deleted nobody asks.
    const isGone = isAsked && leaves.isAsked && !isDeleted;
    const expected = { ...leaves.row, ...(isGone && { gone: true }) };
    return row && fits(expected, row) ? [] : [differing(leaves.id, expected, row ?? {})];
  });
}

const isSame = (one: Left | null, other: Left | null) => one?.id === other?.id;

function rowOf(tables: Tables, { table, id }: Left): object | undefined {
  switch (table) {
    case 'subscriptions':
      return tables.subscriptions.find((row) => row.stripe_subscription_id === id);
    case 'invoices':
      return tables.invoices.find((row) => row.stripe_invoice_id === id);
    case 'payments':
      return tables.payments.find((row) => row.payment_reference === id);
    case 'links':
      return tables.links.find((row) => row.stripe_customer_id === id);
  }
}

/** The tables without what strays left. */
export function withoutStrays(tables: Tables, ours: readonly { id: number }[]): Tables {
  const links = tables.links.filter(({ stripe_customer_id: id }) => !isStray(id));
  const isOurs = (id: number) =>
    ours.some((own) => own.id === id) || links.some(({ customer_id }) => customer_id === id);
  const made = tables.links.filter((link) => !links.includes(link)).map(({ customer_id }) => customer_id);
  const subscriptions = tables.subscriptions.filter((row) => !isStray(row.stripe_customer_id));
  return {
    ...tables,
    links,
    customers: tables.customers.filter(({ id }) => isOurs(id) || !made.includes(id)),
    subscriptions,
    items: tables.items.filter((item) => !isStray(item.stripe_subscription_item_id)),
    invoices: tables.invoices.filter((row) => !isStray(row.stripe_invoice_id)),
    payments: tables.payments.filter((row) => !isStray(row.payment_reference)),
  };
}
