import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { expect, inject, test } from 'vitest';
import { openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { migrate } from '@/db/migrate';
import { findCustomers } from '@/lib/customers/find-customers';
import { useDatabase } from '../support/database';
import { withDatabase } from '../support/database-url';
import { createCustomer } from '../support/factories';

const base = useDatabase();

const NAMES: [name: string, queries: string[]][] = [
  ['Müller & Söhne', ['MÜLLER', 'müller', 'mu\u0308ller', 'SO\u0308H']],
  ['Gro\u0308ger AG', ['gröger', 'GRÖGER AG', 'rög']],
  ['Weißbach', ['weissbach', 'WEISSB', 'weißbach', 'ssb', 'ßb', 'EIẞ']],
  ['Strassner', ['straßner', 'raß', 'ẞN']],
  ['ÉCLAIR Ærø', ['éclair', 'æRØ', 'e\u0301cl']],
];

async function requireFound(db: Database, company: string, queries: string[]): Promise<void> {
  await createCustomer(db, { company });
  for (const query of queries) {
    const { matches } = await findCustomers(db, query);
    expect(
      matches.map(({ name }) => name),
      query,
    ).toEqual([company]);
  }
}

test.each(NAMES)('%s is found by %j', (company, queries) => requireFound(base.db, company, queries));

const server = inject('postgres');

test.runIf(server)('so it is where the locale of the database knows ASCII alone', async () => {
  const name = `w5t_${randomUUID().replaceAll('-', '')}`;
  const admin = openPostgres(server?.url ?? '', { max: 1 });
  await admin.db.execute(sql.raw(`create database ${name} template template0 encoding 'UTF8' locale 'C'`));
  const handle = openPostgres(withDatabase(server?.url ?? '', name));
  try {
    await migrate(handle);
    for (const [company, queries] of NAMES) await requireFound(handle.db, company, queries);
  } finally {
    await handle.close();
    await admin.db.execute(sql.raw(`drop database ${name}`));
    await admin.close();
  }
});
