import type { z } from 'zod';
import { requireStaff } from '@/lib/auth/staff-session';
import { methodNotAllowed } from '@/lib/http/messages';
import { csvOfList } from '../_components/lists/csv';
import type { ListDeclaration } from '../_components/lists/list-declaration';

/** The handlers of a list's `export` address, which answers with the filtered list as a file. */
export function exportRoute<Schema extends z.ZodObject, Row>(list: ListDeclaration<Schema, Row>) {
  const answer = async (request: Request): Promise<Response> => {
    await requireStaff();
    return csvOfList(request, list);
  };
  return { ...methodNotAllowed('GET, HEAD, OPTIONS'), GET: answer };
}
