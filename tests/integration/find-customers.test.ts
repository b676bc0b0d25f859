import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { findCustomers } from '@/lib/customers/find-customers';
import { customerQuery } from '@/lib/customers/schema';
import { containsPattern, prefixPattern } from '@/lib/search-text';
import { useDatabase } from '../support/database';

const base = useDatabase();
const CUSTOMERS = 12_000;

beforeAll(async () => {
  // Names of frequent and of rare letters; the rarest are at the end of the list.
  const letter = (by: number) =>
    sql.raw(`substr('aaaabbbcdäÄÖße.-% _xs', 1 + abs(hashint4(n * 31 + ${by})) % 21, 1)`);
  const name = (by: number) =>
    sql`${letter(by)} || ${letter(by + 1)} || ${letter(by + 2)} || ' ' || ${letter(by + 3)}`;
  await base.db.execute(sql`insert into customers (customer_number, first_name, last_name, company, email)
    select case when n % 9 = 0 then 'k' else 'K' end || n, case when n % 5 > 0 then ${name(1)} end,
      case when n % 7 > 0 then ${name(5)} || case when n > 11990 then 'ß' || 'qz' else '' end end,
      case when n % 3 = 0 then ${name(9)} || ' Gmbh' end,
      case when n % 4 > 0 then ${letter(14)} || n || '@' || ${letter(15)} || '.Example' end
    from generate_series(1, ${CUSTOMERS}::int) n`);
  await base.db.execute(sql`analyze customers`);
});

/** As one statement says it, which looks at every customer. */
async function findPlainly(query: string) {
  const form = query.normalize('NFC').replaceAll('ß', 'ss');
  const [contains, prefix] = [containsPattern(form), prefixPattern(form)];
  const found = await rows<{ id: number }>(
    base.db,
    sql`select id from (
        select id, ${formOf('customer_number')}, ${formOf('email')}, ${formOf('company')}, ${formOf('first_name')},
          ${formOf('last_name')} from customers
      ) c
      where customer_number ilike ${contains} or email ilike ${contains} or company ilike ${contains}
        or coalesce(first_name, '') || ' ' || coalesce(last_name, '') ilike ${contains}
      order by case
        when lower(customer_number) = lower(${query}) or lower(email) = lower(${query}) then 0
        when customer_number ilike ${prefix} or email ilike ${prefix} or company ilike ${prefix}
          or first_name || ' ' || last_name ilike ${prefix} or first_name ilike ${prefix}
          or last_name ilike ${prefix} then 1
        else 2 end, customer_number
      limit 26`,
  );
  return { ids: found.slice(0, 25).map(({ id }) => id), truncated: found.length > 25 };
}

const formOf = (field: string) => sql.raw(`replace(normalize(${field}), 'ß', 'ss') as ${field}`);

const letters = fc.constantFrom(...'aäÄbcdeEGghkKmx19.-%_@ ßsqzQ'.split(''), 'a\u0308');
const typed = fc
  .oneof(
    fc.array(letters, { minLength: 1, maxLength: 4 }).map((some) => some.join('')),
    fc.constantFrom(
      'gmbh',
      'GMBH',
      'mbh',
      'example',
      'K1',
      'k42',
      'K4242',
      'ßqz',
      'qz',
      'z',
      'zz',
      'no such',
      '\\',
      'a b',
    ),
  )
  .map((text) => text.trim())
  .filter((text) => customerQuery.safeParse(text).success);

test('whatever is typed, it finds what looking at every customer finds', async () => {
  await fc.assert(
    fc.asyncProperty(typed, async (query) => {
      const found = await findCustomers(base.db, query);
      expect({ ids: found.matches.map(({ id }) => id), truncated: found.truncated }).toEqual(
        await findPlainly(query),
      );
    }),
    { numRuns: 250 },
  );
}, 120_000);
