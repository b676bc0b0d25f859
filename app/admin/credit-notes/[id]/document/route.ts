import { notFound } from 'next/navigation';
import { toId } from '@/app/_components/search-params';
import { requireStaff } from '@/lib/auth/staff-session';
import { getCreditNoteDocument } from '@/lib/documents/invoice-document';
import { documentResponse } from '@/lib/http/document-route';
import { answerWith, methodNotAllowed } from '@/lib/http/messages';

/** Downloads the PDF of a credit note or a cancellation, or with `?format=xml` its XRechnung. */
async function download(
  request: Request,
  { params }: { params: Promise<{ id: string }> },
): Promise<Response> {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const isXml = new URL(request.url).searchParams.get('format') === 'xml';
  return answerWith(async ({ db, now }) =>
    documentResponse(
      await getCreditNoteDocument(db, id, now()),
      isXml ? 'application/xml' : 'application/pdf',
    ),
  );
}

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = {
  ...methodNotAllowed('GET, HEAD, OPTIONS'),
  GET: download,
};
