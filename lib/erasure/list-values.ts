import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { idsOf } from '../customers/merged-customers';
import { MAX_ID } from '../page';

interface Known extends Record<string, unknown> {
  first_name: string | null;
  last_name: string | null;
  company: string | null;
  email: string | null;
  phone: string | null;
  street: string | null;
  vat_id: string | null;
}

/**
 * The personal values of a customer: names, e-mail addresses, phone numbers and streets. They come from the customer, from
 * the audit log (also of customers merged into it), and from Stripe. A town or a postal code alone identifies no person.
 */
export async function listValues(db: Database, customerId: number): Promise<string[]> {
  const id = Math.min(customerId, MAX_ID);
  const states = await rows<Known>(
    db,
    sql`select r.first_name, r.last_name, r.company, r.email, r.phone, r.street, r.vat_id
      from (
        select to_jsonb(c) as state from customers c where id = ${id}::int
        union all select jsonb_array_elements(jsonb_build_array(before, after)) from audit_log
          where entity = 'customer' and entity_id in (${idsOf(id)})
        union all select jsonb_build_object('last_name', d -> 'value' -> 'name', 'email', d -> 'value' -> 'email',
            'phone', d -> 'value' -> 'phone', 'street', d -> 'value' -> 'street')
          from stripe_customers l, jsonb_array_elements(l.details) d where l.customer_id = ${id}::int
      ) s, jsonb_to_record(nullif(s.state, 'null'::jsonb))
        as r(first_name text, last_name text, company text, email text, phone text, street text, vat_id text)`,
  );
  return [...new Set(states.flatMap(toValues))];
}

function toValues({ first_name, last_name, ...others }: Known): string[] {
  const names = [first_name, last_name].filter((name) => name !== null);
  return [names.join(' '), ...names, ...Object.values(others)].filter((value): value is string =>
    Boolean(value),
  );
}
