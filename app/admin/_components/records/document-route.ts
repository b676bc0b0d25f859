import { notFound } from 'next/navigation';
import { toId } from '@/app/_components/search-params';
import { requireStaff } from '@/lib/auth/staff-session';
import type { Moment } from '@/lib/documents/invoice-document';
import { type DocumentFile, documentResponse } from '@/lib/http/document-route';
import { answerWith, methodNotAllowed, problemResponse } from '@/lib/http/messages';
import type { Runtime } from '@/lib/runtime';

/**
 * Makes the route that downloads a document's PDF, or with `?format=xml` its XRechnung if it has one. If the record has
 * no document, redirects to the record's page, which explains why.
 *
 * @param get function that returns the file; it also gets the query of the download
 * @param query the query to add to the URL of that page
 */
export function staffDocumentRoute(
  get: (db: Runtime['db'], id: number, moment: Moment, search: URLSearchParams) => Promise<DocumentFile>,
  query = '',
) {
  async function download(
    request: Request,
    { params }: { params: Promise<{ id: string }> },
  ): Promise<Response> {
    await requireStaff();
    const id = toId((await params).id) ?? notFound();
    const { pathname, searchParams } = new URL(request.url);
    const page = pathname.replace(/\/document$/, '');
    return answerWith(
      async ({ db, env, now }) => {
        const file = await get(db, id, { now: now(), timeZone: env.timeZone }, searchParams);
        const isXml = searchParams.get('format') === 'xml' && file.xml !== undefined;
        return documentResponse(file, isXml ? 'application/xml' : 'application/pdf');
      },
      (error) =>
        error.code === 'conflict'
          ? new Response(null, { status: 303, headers: { Location: page + query } })
          : problemResponse(error),
    );
  }
  return { ...methodNotAllowed('GET, HEAD, OPTIONS'), GET: download };
}
