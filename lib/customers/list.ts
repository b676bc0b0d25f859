import { eq, inArray, or, sql } from 'drizzle-orm';
import { pickColumns } from '@/db/database';
import { customerSortName, customerStatus, customers } from '@/db/schema';
import { defineList, filter, wordFilter } from '../counted-list/define-list';
import { countryCode } from '../records/fields';
import { hasNumber, idAfterHash, matchMention, spellings } from './match-customer';
import { customerName } from './queries';
import { customerQuery } from './schema';

export const CUSTOMER_STATUSES = customerStatus.enumValues;

const c = customers;

/** The list of customers for staff. */
export const customerList = defineList({
  table: c,
  filters: {
    /** A `#id`, a whole customer number, or part of a number, an email address, a name or a company. */
    q: filter(customerQuery, (text) => {
      const id = idAfterHash(text);
      const where = id === null ? or(hasNumber(spellings(text)), matchMention(text)) : eq(c.id, id);
      return { where, few: true };
    }),
    status: wordFilter(CUSTOMER_STATUSES, c.status),
    country: filter(countryCode, (country) => ({ where: eq(c.country, country) })),
  },
  orders: {
    created: sql`${c.id}`,
    number: sql`${c.customer_number}`,
    name: customerSortName(c),
  },
  sort: '-created',
  async rows(db, ids) {
    const row = pickColumns(c, 'id', 'customer_number', 'email', 'city', 'country', 'currency', 'status');
    const names = pickColumns(c, 'first_name', 'last_name', 'company');
    const found = await db.select({ row, names }).from(c).where(inArray(c.id, ids));
    return found.map((one) => ({ ...one.row, name: customerName(one.names) }));
  },
  columns: ['id', 'customer_number', 'name', 'email', 'city', 'country', 'currency', 'status'],
});
