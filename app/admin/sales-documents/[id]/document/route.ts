import { notFound } from 'next/navigation';
import { toId } from '@/app/_components/search-params';
import { requireStaff } from '@/lib/auth/staff-session';
import { getSalesFile } from '@/lib/documents/sales-document-file';
import { documentResponse } from '@/lib/http/document-route';
import { answerWith, methodNotAllowed } from '@/lib/http/messages';

/** Downloads the PDF of an offer or an order confirmation. */
async function download(_: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  return answerWith(async ({ db, now }) =>
    documentResponse({ ...(await getSalesFile(db, id, now())), xml: '' }, 'application/pdf'),
  );
}

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = {
  ...methodNotAllowed('GET, HEAD, OPTIONS'),
  GET: download,
};
