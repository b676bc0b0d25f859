import { notFound } from 'next/navigation';
import { toId } from '@/app/_components/search-params';
import { requireStaff } from '@/lib/auth/staff-session';
import { type DocumentFile, documentResponse } from '@/lib/http/document-route';
import { answerWith, methodNotAllowed, problemResponse } from '@/lib/http/messages';
import type { Runtime } from '@/lib/runtime';

/** The query of a download, and the service's time zone. */
type Asked = { search: URLSearchParams; timeZone: string };

/**
 * Makes the route that downloads a document's PDF, or with `?format=xml` its XRechnung if it has one. A record without
 * a document opens its page, which says why.
 *
 * @param query added to the address of that page
 */
export function staffDocumentRoute(
  get: (db: Runtime['db'], id: number, now: Date, asked: Asked) => Promise<DocumentFile>,
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
      async ({ db, now, env }) => {
        const asked = { search: searchParams, timeZone: env.timeZone };
        const file = await get(db, id, now(), asked);
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
