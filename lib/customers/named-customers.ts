import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { customers } from '@/db/schema';
import { literal } from '../page-query';
import { findCustomerId } from './match-customer';
import { matchMention } from './match-mention';

/** A text that more customers have is too short to narrow a list by. */
export const MAX_NAMED = 200;

/** Whom a text in a filter means. */
export interface NamedCustomers {
  ids: number[];
  /** By a whole number, or `#` and our id. */
  exact: boolean;
  /** More than `MAX_NAMED` customers have it, or none could be searched for. */
  tooMany: boolean;
}

/** The customer of a whole number or `#id`; else those with the text in their number, name, company or e-mail address. */
export async function findNamedCustomers(db: Database, text: string): Promise<NamedCustomers> {
  const id = await findCustomerId(db, text);
  if (id !== null) return { ids: [id], exact: true, tooMany: false };
  const mention = matchMention(text);
  if (!mention) return { ids: [], exact: false, tooMany: true };
  const found = await db
    .select({ id: customers.id })
    .from(customers)
    .where(mention)
    .limit(literal(MAX_NAMED + 1));
  const tooMany = found.length > MAX_NAMED;
  return { ids: tooMany ? [] : found.map((one) => one.id), exact: false, tooMany };
}

/** Rows of some customers. */
export function isOfAny(column: PgColumn, ids: number[]): SQL {
  return sql`${column} = any(${`{${ids.join(',')}}`}::int[])`;
}
