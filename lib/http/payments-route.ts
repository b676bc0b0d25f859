import type { Page } from '../page';
import { getPayment, listPayments } from '../payments/queries';
import {
  type PaymentRow,
  type PaymentUpdate,
  paymentFilters,
  paymentInput,
  paymentUpdate,
} from '../payments/schema';
import { apiWriter, deletePayment, recordPayment, updatePayment } from '../payments/write-payment';
import { type HttpRequest, jsonWithEtag, preconditionOf } from './messages';
import { type Call, endpoint, pathId, route } from './route';

/** Handlers of `/api/w5t/payments`. */
export const paymentsRoute = route({
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
      const { payment, created, warning } = await recordPayment(runtime.db, body, apiWriter(runtime, token), {
        precondition: preconditionOf(request),
      });
      if (!created) return toAnswer(request, { ...payment, warning });
      const headers = { Location: `/api/w5t/payments/${payment.id}` };
      return toAnswer(request, { ...payment, warning }, { status: 201, headers });
    },
  }),
});

const update = endpoint({
  scope: 'payments:write',
  body: paymentUpdate,
  run: async ({ request, runtime, token, params, body }: Call<unknown, PaymentUpdate>) => {
    const writer = apiWriter(runtime, token);
    const payment = await updatePayment(runtime.db, pathId(params), body, writer, preconditionOf(request));
    return toAnswer(request, payment);
  },
});

/** Responds with the payment. The ETag does not cover the warning, so it equals the ETag that GET returns. */
function toAnswer(
  request: HttpRequest,
  { warning, ...payment }: PaymentRow & { warning?: string | undefined },
  init: ResponseInit = {},
): Response {
  const answer = jsonWithEtag(request, payment, init);
  if (warning === undefined) return answer;
  return Response.json({ ...payment, warning }, { status: answer.status, headers: answer.headers });
}

/** Handlers of `/api/w5t/payments/[id]`. */
export const paymentRoute = route({
  GET: endpoint({
    scope: 'payments:read',
    run: async ({ request, runtime, params }) =>
      jsonWithEtag(request, await getPayment(runtime.db, pathId(params))),
  }),
  PUT: update,
  PATCH: update,
  DELETE: endpoint({
    scope: 'payments:write',
    run: async ({ request, runtime, token, params }) => {
      await deletePayment(runtime.db, pathId(params), apiWriter(runtime, token), preconditionOf(request));
      return new Response(null, { status: 204 });
    },
  }),
});

/** Returns the `Link` header of a page (RFC 8288): first and last, and prev and next if there are such pages. */
function pageLinks(url: URL, publicUrl: string, { page, last_page }: Page<unknown>): string {
  const path = new URL(url.pathname, publicUrl);
  const query = new URLSearchParams(url.search);
  const link = (rel: string, number: number) => {
    query.set('page', String(number));
    return `<${path}?${query}>; rel="${rel}"`;
  };
  return [
    link('first', 1),
    page > 1 && link('prev', Math.min(page - 1, last_page)),
    page < last_page && link('next', page + 1),
    link('last', last_page),
  ]
    .filter((entry) => entry !== false)
    .join(', ');
}
