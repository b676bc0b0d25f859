import { drizzle } from 'drizzle-orm/postgres-js';
import postgres from 'postgres';
import type { Database } from '@/db/database';
import { limitWriters } from '@/db/transaction';
import { EVERYTHING } from '@/lib/mcp/caller';
import { findCustomerTool } from '@/lib/mcp/tools/find-customer-tool';
import { getCustomerTool } from '@/lib/mcp/tools/get-customer-tool';
import { listInvoicesTool } from '@/lib/mcp/tools/list-invoices-tool';
import { listPayments } from '@/lib/payments/queries';
import { PAYMENTS } from './floor-reads';

/** A statement as it went to the database. */
export interface Said {
  text: string;
  values: (string | number)[];
}

/** What each operation that reads asks, by its name. */
export type Recorded = Record<string, Said[]>;

/** What the tools are asked in this bench. */
export const CALLS = [
  { tool: listInvoicesTool, args: { per_page: 25 } },
  { tool: findCustomerTool, args: { query: 'gmbh' } },
  { tool: getCustomerTool, args: { id: 1 } },
];

/** Listens to the product while it answers, so that somebody else can ask the same. */
export async function recordStatements(url: string): Promise<Recorded> {
  let said: Said[] = [];
  const client = postgres(url, { max: 1, debug: (_, text, values) => said.push({ text, values }) });
  const db = drizzle({ client });
  limitWriters(db, 1);
  const record = async (run: (db: Database) => Promise<unknown>) => {
    await run(db); // the first time also asks for types
    said = [];
    await run(db);
    const asked = said;
    said = []; // what comes next is not its own
    return asked;
  };
  try {
    const recorded: Recorded = { [PAYMENTS]: await record((on) => listPayments(on, { per_page: 25 })) };
    for (const { tool, args } of CALLS)
      recorded[tool.name] = await record((on) => tool.call(on, args, EVERYTHING));
    return recorded;
  } finally {
    await client.end();
  }
}
