import { type Call, endpoint, pathId, route } from '@/lib/http/route';
import { apiWriter } from '@/lib/payments/api-writer';
import { deletePayment } from '@/lib/payments/delete-payment';
import { getPayment } from '@/lib/payments/queries';
import { type PaymentChanges, paymentChanges } from '@/lib/payments/schema';
import { updatePayment } from '@/lib/payments/update-payment';

const update = endpoint({
  scope: 'payments:write',
  body: paymentChanges,
  run: async ({ runtime, token, params, body }: Call<unknown, PaymentChanges>) =>
    Response.json(await updatePayment(runtime.db, pathId(params), body, apiWriter(runtime, token))),
});

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = route({
  GET: endpoint({
    scope: 'payments:read',
    run: async ({ runtime, params }) => Response.json(await getPayment(runtime.db, pathId(params))),
  }),
  PUT: update,
  PATCH: update,
  DELETE: endpoint({
    scope: 'payments:write',
    run: async ({ runtime, token, params }) => {
      await deletePayment(runtime.db, pathId(params), apiWriter(runtime, token));
      return new Response(null, { status: 204 });
    },
  }),
});
