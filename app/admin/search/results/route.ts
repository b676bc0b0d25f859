import { invalidField } from '@/lib/errors';
import { methodNotAllowed } from '@/lib/http/messages';
import { searchText } from '@/lib/search/schema';
import { search } from '@/lib/search/search';
import { answerStaff } from '../../_components/page/answer-staff';
import { toAnswer } from '../../_components/search/to-entry';

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD, OPTIONS');

/** Returns the results that the search dialog shows during typing. */
export function GET(request: Request): Promise<Response> {
  return answerStaff(request, async ({ db }, text) => {
    const parsed = searchText.safeParse(text);
    if (!parsed.success) throw invalidField('q', parsed.error.issues[0]?.message ?? 'is no search');
    return toAnswer(await search(db, parsed.data));
  });
}
