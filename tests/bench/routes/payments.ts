import { openSql, readPage, readPayment, readToken, upsertPayment } from '@/tests/bench/same-sql';

/** Serves the payments API as a plain Next route. */
export async function GET(
  request: Request,
  context: { params: Promise<{ id?: string[] }> },
): Promise<Response> {
  const sql = openSql();
  const token = await readToken(sql, request.headers.get('authorization'), 'payments:read');
  if (!token) return new Response(null, { status: 401 });
  const { id: [id] = [] } = await context.params;
  if (id === undefined) return Response.json(await readPage(sql));
  const payment = await readPayment(sql, Number(id));
  return payment ? Response.json(payment) : new Response(null, { status: 404 });
}

export async function POST(request: Request): Promise<Response> {
  const sql = openSql();
  const token = await readToken(sql, request.headers.get('authorization'), 'payments:write');
  if (!token) return new Response(null, { status: 401 });
  const { payment, created } = await upsertPayment(sql, token, await request.json());
  return Response.json(payment, { status: created ? 201 : 200 });
}
