import { requireStaff } from '@/lib/auth/session/staff-session';
import { methodNotAllowed } from '@/lib/http/method-not-allowed';
import { csvOfList } from '../../_components/lists/csv-of-list';
import { OVERDUE } from '../list';

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD, OPTIONS');

/** The filtered list as a file. */
export async function GET(request: Request): Promise<Response> {
  await requireStaff();
  return csvOfList(request, OVERDUE);
}
