import { currentStaff } from '@/lib/auth/session/staff-session';
import { AppError, invalidField } from '@/lib/errors';
import { methodNotAllowed } from '@/lib/http/method-not-allowed';
import { problemResponse, toAppError } from '@/lib/http/problem';
import { explainFailure, type Runtime, runtimeOrError } from '@/lib/runtime';
import { searchText } from '@/lib/search/schema';
import { search } from '@/lib/search/search';
import { toAnswer } from '../../_components/search/to-entry';

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD, OPTIONS');

/** What the search dialog shows while somebody types. */
export async function GET(request: Request): Promise<Response> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) return problemResponse(runtime);
  try {
    if (!(await currentStaff())) throw new AppError('unauthenticated', 'Nobody is signed in.');
    return await answer(runtime, new URL(request.url).searchParams.get('q') ?? '');
  } catch (error) {
    return problemResponse(toAppError(await explainFailure(runtime, error), runtime.newId(), runtime.log));
  }
}

async function answer({ db }: Runtime, text: string): Promise<Response> {
  const parsed = searchText.safeParse(text);
  if (!parsed.success) throw invalidField('q', parsed.error.issues[0]?.message ?? 'is no search');
  const answered = toAnswer(await search(db, parsed.data));
  return Response.json(answered, { headers: { 'Cache-Control': 'no-store' } });
}
