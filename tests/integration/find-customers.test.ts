import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { migrate } from '@/db/migrate';
import { mergedCustomers, searchForm } from '@/db/schema';
import { findCustomers } from '@/lib/customers/find-customers';
import { customerQuery } from '@/lib/customers/schema';
import { unaccented } from '@/lib/customers/similar';
import { onServer, useDatabase } from '../support/database';
import { withDatabase } from '../support/database-url';
import { createCustomer } from '../support/factories';

type Customer = NonNullable<Parameters<typeof createCustomer>[1]>;

async function expectFound(db: Database, queries: string[], numbers: (string | undefined)[]) {
  for (const query of queries) {
    const { matches } = await findCustomers(db, query);
    expect([query, matches.map((one) => one.customer_number)]).toEqual([query, numbers]);
  }
}

const NAMES: [company: string, queries: string[]][] = [
  ['Müller & Söhne', ['MÜLLER', 'müller', 'mu\u0308ller', 'SO\u0308H']],
  ['Gro\u0308ger AG', ['gröger', 'GRÖGER AG', 'rög']],
  ['Weißbach', ['weissbach', 'WEISSB', 'weißbach', 'ssb', 'ßb', 'EIẞ']],
  ['Strassner', ['straßner', 'raß', 'ẞN']],
  ['ÉCLAIR Ærø', ['éclair', 'æRØ', 'e\u0301cl']],
];
async function expectNamesFound(db: Database) {
  for (const [company, queries] of NAMES) {
    const { customer_number } = await createCustomer(db, { company });
    await expectFound(db, queries, [customer_number]);
  }
}

describe('a search in few customers', () => {
  const base = useDatabase();

  const RANKED: Customer[] = [
    { customer_number: 'R5', company: 'See zeta' },
    { customer_number: 'R4', first_name: 'A', last_name: 'Zetatest' },
    { customer_number: 'R3', company: 'ZETA GmbH' },
    { customer_number: 'R2', email: 'Zeta' },
    { customer_number: 'R1', company: 'Alphazeta' },
    { customer_number: 'zETA' },
  ];
  test('the customer search ranks exact matches before prefixes, and prefixes before other matches', async () => {
    for (const one of RANKED) await createCustomer(base.db, one);
    await expectFound(base.db, ['zeta'], ['R2', 'zETA', 'R3', 'R4', 'R1', 'R5']);
  });

  test('the customer search does not match across the number and the e-mail address of a customer', async () => {
    await createCustomer(base.db, { customer_number: 'SPAN1', email: 'span@example.com', company: 'Spa' });
    await expectFound(base.db, ['SPAN1span', 'SPAN1 span'], []);
  });

  test.each(['%', '_', '\\', "'", '"', '$1', '\\%'])(
    'the customer search treats the text %s literally',
    async (text) => {
      await createCustomer(base.db, { customer_number: `L${text}L` });
      await expectFound(base.db, [`l${text}l`], [`L${text}L`]);
    },
  );

  test('the customer search ignores letter case and Unicode form', async () => {
    const shown = { customer_number: 'ÄX-100', email: 'Grace@Navy.example' };
    const names = { first_name: 'Grace', last_name: 'Höpper', company: 'Cobol Übersetzer AG' };
    const { id } = await createCustomer(base.db, { ...shown, ...names });
    const queries = ['x-1', 'GRACE@navy', 'rac', 'höPP', 'grace h', 'obol ü', 'ÜBERSETZER'];
    await expectFound(base.db, queries, ['ÄX-100']);
    const [match] = (await findCustomers(base.db, 'grace')).matches;
    expect(match).toEqual({ id, ...shown, name: names.company, status: 'active' });
    await expectNamesFound(base.db);
  });

  test('the customer search says that more customers match than it shows, also if the number of a merged customer is the text', async () => {
    const { id } = await createCustomer(base.db, { customer_number: '0', company: 'A wurst' });
    const merged = { id: id + 1_000_000, customer_number: 'wurst', customer_id: id };
    await base.db.insert(mergedCustomers).values(merged);
    // The start of the list holds 25 of the 26 matches.
    await base.db.execute(sql`insert into customers (customer_number, company)
      select to_char(n, 'FM00000'), case when n < 25 or n = 1000 then 'A wurst' end from generate_series(1, 1000) n`);
    expect(await findCustomers(base.db, 'wurst')).toMatchObject({ count: 25, truncated: true });
  });

  const server = inject('postgres');
  test.runIf(server)(
    'the customer search ignores letter case in a database with an ASCII-only locale',
    async () => {
      const { url } = server ?? { url: '' };
      const name = `w5t_${randomUUID().replaceAll('-', '')}`;
      await onServer(url, `create database ${name} template template0 encoding 'UTF8' locale 'C'`);
      const handle = openPostgres(withDatabase(url, name));
      try {
        await migrate(handle);
        await expectNamesFound(handle.db);
      } finally {
        await handle.close();
        await onServer(url, `drop database ${name}`);
      }
    },
  );

  test('a customer search query is trimmed and limited to 200 characters', () => {
    expect(customerQuery.parse('  a b\n')).toBe('a b');
    const { error } = customerQuery.safeParse('x'.repeat(201));
    expect(error?.issues[0]?.message).toBe('must have at most 200 characters');
  });
});

describe('a search in many customers', () => {
  const base = useDatabase();
  // There are more customers than the search reads by prefix, and more than it scans from the start of the list.
  const CUSTOMERS = 6000;
  let forms: { id: number; number: string; email: string; begins: string[] }[];

  beforeAll(async () => {
    // The names contain frequent and rare letters. Only some of the last ten customers have the letters “qz”.
    const letter = (by: number) =>
      sql.raw(`substr('aaaabbbcdäÄÖße.-% _xs', 1 + abs(hashint4(n * 31 + ${by})) % 21, 1)`);
    const name = (by: number) =>
      sql`${letter(by)} || ${letter(by + 1)} || ${letter(by + 2)} || ' ' || ${letter(by + 3)}`;
    await base.db.execute(sql`insert into customers (customer_number, first_name, last_name, company, email)
      select case when n % 9 = 0 then 'k' else 'K' end || n, case when n % 5 > 0 then ${name(1)} end,
        case when n % 7 > 0 then ${name(5)} || case when n > 5990 then 'ß' || 'qz' else '' end end,
        case when n % 3 = 0 then ${name(9)} || ' Gmbh' end,
        case when n % 4 > 0 then ${letter(14)} || n || '@' || ${letter(15)} || '.Example' end
      from generate_series(1, ${CUSTOMERS}::int) n`);
    await base.db.execute(sql`analyze customers`);
    const stored = await rows<{ id: number; fields: (string | null)[] }>(
      base.db,
      sql`select id, jsonb_build_array(customer_number, email, company, first_name, last_name) as fields
        from customers order by customer_number`,
    );
    forms = stored.map(({ id, fields }) => {
      const [number = '', email = '', company = '', first = '', last = ''] = fields.map((one) =>
        fold(one ?? ''),
      );
      const full = `${first} ${last}`;
      return { id, number, email, begins: [number, email, company, full, first, last] };
    });
  });

  const fold = (text: string) => text.normalize('NFC').replaceAll('ß', 'ss').toLowerCase();

  /** Searches all customers one by one, as a reference for the real search. */
  function findPlainly(query: string) {
    const text = fold(query);
    const rankOf = ({ number, email, begins }: (typeof forms)[number]) => {
      if (number === text || email === text) return 0;
      return begins.some((one) => one.startsWith(text)) ? 1 : 2;
    };
    const found = forms
      .filter(({ begins }) => begins.some((one) => one.includes(text)))
      .map((one) => ({ id: one.id, rank: rankOf(one) }))
      .sort((one, other) => one.rank - other.rank);
    return { ids: found.slice(0, 25).map(({ id }) => id), truncated: found.length > 25 };
  }

  const letters = fc.constantFrom(...'aäÄbcdeEGghkKmx19.-%_@ ßsqzQ'.split(''), 'a\u0308');
  const words = 'gmbh,GMBH,mbh,example,K1,k42,K4242,ßqz,qz,z,zz,no such,\\,a b'.split(',');
  const typed = fc
    .oneof(
      fc.array(letters, { minLength: 1, maxLength: 4 }).map((some) => some.join('')),
      fc.constantFrom(...words),
    )
    .map((text) => text.trim())
    .filter((text) => customerQuery.safeParse(text).success);

  test('the customer search finds the same customers as a scan of all customers', async () => {
    await fc.assert(
      fc.asyncProperty(typed, async (query) => {
        const { matches, truncated } = await findCustomers(base.db, query);
        expect({ ids: matches.map(({ id }) => id), truncated }).toEqual(findPlainly(query));
      }),
      { numRuns: 150 },
    );
  });

  test('the SQL function and the TypeScript function `unaccented` return the same text', async () => {
    const texts = ['Bäckerei Müller & Söhne', 'Mueller', 'Weißbach', 'Ærø-Łódź', "O'Neill, Ltd.", 'K-10.042'];
    const found = await rows<{ text: string }>(
      base.db,
      sql`select unaccented(${searchForm(sql`text`)}) as text
        from unnest(${`{"${texts.join('","')}"}`}::text[]) with ordinality as given(text, place) order by place`,
    );
    expect(found.map(({ text }) => text)).toEqual(texts.map(unaccented));
    expect(unaccented('Bäckerei Müller & Söhne')).toBe(unaccented('Backerei Mueller + Sohne'));
  });
});
