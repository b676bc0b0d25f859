import { getCreditNoteDocument, getDocument } from '../documents/invoice-document';
import { AppError } from '../errors';
import { hidesPersonalData } from '../tokens/access-token';
import type { HttpRequest } from './messages';
import { endpoint, pathId, route } from './route';

const TYPES = ['application/pdf', 'application/xml'] as const;
export type DocumentType = (typeof TYPES)[number];

const downloadOf = (get: typeof getDocument) =>
  route({
    GET: endpoint({
      scope: 'billing:read',
      run: async ({ request, runtime: { db, env, now }, token, params }) => {
        if (hidesPersonalData(token)) {
          throw new AppError('forbidden', 'This access token hides personal data, and documents contain it.');
        }
        const type = acceptedType(request);
        return documentResponse(await get(db, pathId(params), { now: now(), timeZone: env.timeZone }), type);
      },
    }),
  });

/** Handlers of `/api/w5t/invoices/[id]/document`. */
export const documentRoute = downloadOf(getDocument);
/** Handlers of `/api/w5t/credit-notes/[id]/document`. */
export const creditNoteDocumentRoute = downloadOf(getCreditNoteDocument);

export interface DocumentFile {
  pdf: Uint8Array;
  /** The XRechnung (XML) of an invoice or a credit note. Absent for other documents. */
  xml?: string;
  /** Name of the file, without its extension. */
  name: string;
}

/**
 * Returns a response with the PDF or the XML of a document. A browser saves it as `name` with the extension of its
 * type.
 */
export function documentResponse({ pdf, xml, name }: DocumentFile, type: DocumentType): Response {
  const isPdf = type === 'application/pdf';
  const headers = {
    'Content-Type': isPdf ? type : `${type}; charset=utf-8`,
    'Content-Disposition': `attachment; filename="${name}.${isPdf ? 'pdf' : 'xml'}"`,
    'Cache-Control': 'no-store',
  };
  return new Response(isPdf ? Buffer.from(pdf) : xml, { headers });
}

/**
 * Returns the media type, PDF or XML, that a request prefers. Defaults to PDF if there is no `Accept` header.
 *
 * @throws AppError not_acceptable if the request accepts neither
 */
function acceptedType({ headers }: HttpRequest): DocumentType {
  const ranges = (headers.get('accept') ?? '*/*').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((part) => part.startsWith('q='))?.slice(2);
    return { type, quality: quality === undefined ? 1 : Number(quality) };
  });
  const qualityOf = (type: string) => {
    const fits = (range: string) => [type, 'application/*', '*/*'].indexOf(range);
    const [best] = ranges
      .filter((range) => fits(range.type) >= 0)
      .sort((a, b) => fits(a.type) - fits(b.type));
    return best?.quality ?? 0;
  };
  const [first] = TYPES.filter((type) => qualityOf(type) > 0).sort((a, b) => qualityOf(b) - qualityOf(a));
  if (!first) throw new AppError('not_acceptable', `Send Accept: ${TYPES.join(' or ')}.`);
  return first;
}
