import { openSql, readPayment, readToken } from '@/tests/bench/payments/same-sql';

export async function GET(request: Request, context: { params: Promise<{ id: string }> }): Promise<Response> {
  const sql = openSql();
  const token = await readToken(sql, request.headers.get('authorization'), 'payments:read');
  if (!token) return new Response(null, { status: 401 });
  const payment = await readPayment(sql, Number((await context.params).id));
  return payment ? Response.json(payment) : new Response(null, { status: 404 });
}
