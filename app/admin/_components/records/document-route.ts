import { notFound } from 'next/navigation';
import { toId } from '@/app/_components/search-params';
import { requireStaff } from '@/lib/auth/staff-session';
import type { Moment } from '@/lib/documents/invoice-document';
import { type DocumentFile, documentResponse } from '@/lib/http/document-route';
import { answerWith, methodNotAllowed, problemResponse } from '@/lib/http/messages';
import type { Runtime } from '@/lib/runtime';

/**
 * Creates the route that downloads a document as PDF, or with `?format=xml` as XRechnung if the document has one. If
 * the record has no document, redirects to the record's page, which explains why.
 *
 * @param get returns the file; receives the record's id, the current time and the query of the download
 * @param query query to add to the URL of the record's page
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
