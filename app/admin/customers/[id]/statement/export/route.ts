import { notFound, redirect } from 'next/navigation';
import { toId, toRequestParams } from '@/app/_components/search-params';
import { getCustomer } from '@/lib/customers/queries';
import { statementCsv, statementPeriod } from '@/lib/documents/statement-entries';
import { csvFile, fileRoute } from '../../../../_components/lists/csv';
import { parseFilters } from '../../../../_components/lists/list-declaration';
import { orNotFound } from '../../../../_components/page/staff-page';

/**
 * Downloads the statement of account as CSV. An invalid period redirects to the statement's page, which shows the
 * error.
 */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = fileRoute<{ id: string }>(
  ({ id }) =>
    async ({ pathname, search, searchParams }, { db, env }, today) => {
      const customer = await orNotFound(getCustomer(db, { id: toId(id) ?? notFound() }));
      const { filters } = parseFilters(statementPeriod, toRequestParams(searchParams));
      if (!filters) redirect(pathname.replace(/\/export$/, '') + search);
      const name = `statement-${customer.customer_number}-${filters.to ?? today}`;
      return csvFile(name, statementCsv(db, customer.id, filters, env.timeZone));
    },
);
