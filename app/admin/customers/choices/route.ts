import { findCustomerChoices } from '@/lib/customers/find-customers';
import { customerQuery } from '@/lib/customers/schema';
import { typingRoute } from '../../_components/lists/csv';

/** Returns the customers that a form suggests while the person types. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = typingRoute(customerQuery, (text, { db, env }) =>
  findCustomerChoices(db, text, env.tax),
);
