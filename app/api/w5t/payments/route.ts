import { jsonWithEtag, preconditionOf } from '@/lib/http/etag';
import { pageLinks } from '@/lib/http/page-links';
import { endpoint, route } from '@/lib/http/route';
import { apiWriter } from '@/lib/payments/api-writer';
import { listPayments } from '@/lib/payments/queries';
import { recordPayment } from '@/lib/payments/record-payment';
import { paymentFilters, paymentInput } from '@/lib/payments/schema';

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({
    scope: 'payments:read',
    query: paymentFilters,
    run: async ({ runtime: { db, env }, query, url }) => {
      const page = await listPayments(db, query);
      return Response.json(page, { headers: { Link: pageLinks(url, env.publicUrl, page) } });
    },
  }),
  POST: endpoint({
    scope: 'payments:write',
    body: paymentInput,
    run: async ({ request, runtime, token, body }) => {
      const { payment, created } = await recordPayment(runtime.db, body, apiWriter(runtime, token), {
        precondition: preconditionOf(request),
      });
      if (!created) return jsonWithEtag(request, payment);
      const headers = { Location: `/api/w5t/payments/${payment.id}` };
      return jsonWithEtag(request, payment, { status: 201, headers });
    },
  }),
});
