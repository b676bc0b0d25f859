import type { Database } from '@/db/database';
import { toCsv } from '../../csv';
import { readUnconfirmedLinks, reasonOf } from './unconfirmed-links';

const COLUMNS = [
  'stripe_customer_id',
  'email',
  'name',
  'filed_under',
  'customer_number',
  'matches',
  'reason',
];

/** `customer_number` is the proposed customer, or empty. */
export function proposalsCsv(db: Database): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db));
}

async function* readRecords(db: Database) {
  for await (const links of readUnconfirmedLinks(db)) {
    yield links.map((link) => ({
      ...link,
      filed_under: link.from_number,
      customer_number: link.to_number,
      reason: reasonOf(link),
    }));
  }
}
