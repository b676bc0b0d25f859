import type { NotedDetail } from '@/db/schema';

const FIELDS = {
  // Stripe has one name for persons and companies alike; which it is, staff know.
  name: { last_name: 'name' },
  email: { email: 'email' },
  phone: { phone: 'phone' },
  address: { street: 'street', postal_code: 'postal_code', city: 'city', country: 'country' },
} as const;

type Column = 'last_name' | 'email' | 'phone' | 'street' | 'postal_code' | 'city' | 'country';
export type CreatedColumns = Record<Column, string | null>;

/** The columns of a created customer that belong together, since they come from one place. */
export const CREATED_COLUMNS = Object.values(FIELDS).map((columns) => Object.keys(columns) as Column[]);

/** The columns of a customer that is made of what Stripe reported, of each field the strongest. */
export function toCreatedColumns(details: Pick<NotedDetail, 'field' | 'value'>[]): CreatedColumns {
  const columns = Object.fromEntries(
    Object.entries(FIELDS).flatMap(([field, parts]) => {
      const reported = details.find((one) => one.field === field);
      return Object.entries(parts).map(([column, part]) => [column, reported?.value[part] ?? null]);
    }),
  );
  return columns as CreatedColumns;
}
