import type { z } from 'zod';
import { requireStaff } from '@/lib/auth/staff-session';
import { methodNotAllowed } from '@/lib/http/messages';
import { csvOfList } from '../_components/lists/csv';
import type { ListDeclaration } from '../_components/lists/list-declaration';

/** Makes the handlers of a list's `export` address, which downloads the filtered list as a CSV file. */
export function exportRoute<Schema extends z.ZodObject, Row>(list: ListDeclaration<Schema, Row>) {
  const answer = async (request: Request): Promise<Response> => {
    await requireStaff();
    return csvOfList(request, list);
  };
  return { ...methodNotAllowed('GET, HEAD, OPTIONS'), GET: answer };
}
