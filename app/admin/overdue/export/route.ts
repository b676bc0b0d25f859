import { redirect } from 'next/navigation';
import { exportRoute } from '../../_components/lists/csv';
import { OVERDUE } from '../invoices/list';
import { RECEIVABLES } from '../list';

const route = exportRoute(RECEIVABLES);

export const { POST, PUT, PATCH, DELETE, OPTIONS } = route;

/** Sends the file. An old link with an age leads to the file of the overdue invoices, which it has filtered. */
export function GET(request: Request): Promise<Response> {
  const { search, searchParams } = new URL(request.url);
  if (searchParams.has('age')) redirect(`${OVERDUE.path}/export${search}`);
  return route.GET(request);
}
