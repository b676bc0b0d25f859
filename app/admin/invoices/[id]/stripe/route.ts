import { notFound } from 'next/navigation';
import { toId } from '@/app/_components/search-params';
import { requireStaff } from '@/lib/auth/staff-session';
import { answerWith, methodNotAllowed } from '@/lib/http/messages';
import { getInvoice } from '@/lib/invoices/queries';
import { fetchInvoiceLinks } from '@/lib/stripe/fetch';

/**
 * Redirects to Stripe's PDF of an invoice, or with `?of=page` to Stripe's hosted invoice page. If Stripe does not
 * answer or does not provide the link, redirects back to our page with a notice.
 */
async function open(request: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const isPage = new URL(request.url).searchParams.get('of') === 'page';
  return answerWith(async ({ db, stripe }) => {
    const { stripe_invoice_id } = await getInvoice(db, id);
    const none = { pdf: null, page: null };
    const links = stripe && stripe_invoice_id ? await fetchInvoiceLinks(stripe, stripe_invoice_id) : none;
    const address = isPage ? links?.page : links?.pdf;
    const headers = {
      Location: address ?? `/admin/invoices/${id}?notice=${links ? 'no_link' : 'no_answer'}`,
      'Cache-Control': 'no-store',
    };
    return new Response(null, { status: 303, headers });
  });
}

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = {
  ...methodNotAllowed('GET, HEAD, OPTIONS'),
  GET: open,
};
