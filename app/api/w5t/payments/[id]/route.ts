import { jsonWithEtag, preconditionOf } from '@/lib/http/etag';
import { type Call, endpoint, pathId, route } from '@/lib/http/route';
import { apiWriter } from '@/lib/payments/api-writer';
import { deletePayment } from '@/lib/payments/delete-payment';
import { getPayment } from '@/lib/payments/queries';
import { type PaymentUpdate, paymentUpdate } from '@/lib/payments/schema';
import { updatePayment } from '@/lib/payments/update-payment';

const update = endpoint({
  scope: 'payments:write',
  body: paymentUpdate,
  run: async ({ request, runtime, token, params, body }: Call<unknown, PaymentUpdate>) => {
    const writer = apiWriter(runtime, token);
    const payment = await updatePayment(runtime.db, pathId(params), body, writer, preconditionOf(request));
    return jsonWithEtag(request, payment);
  },
});

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
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
