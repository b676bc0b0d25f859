import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customerServices, customers, servers } from '@/db/schema';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import { serviceColumns, toServiceRow } from './list';

/** One service with its customer and its server. @throws AppError not_found */
export async function getService(db: Database, id: number) {
  const [found] = await db
    .select({
      ...serviceColumns,
      server: { id: servers.id, hostname: servers.hostname },
      created_at: customerServices.created_at,
      updated_at: customerServices.updated_at,
    })
    .from(customerServices)
    .innerJoin(customers, eq(customers.id, customerServices.customer_id))
    .leftJoin(servers, eq(servers.id, customerServices.server_id))
    .where(eq(customerServices.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no service ${id}.`);
  return { ...found, ...toServiceRow(found) };
}

export type ServiceDetails = Awaited<ReturnType<typeof getService>>;
