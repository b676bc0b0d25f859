import { openSql, readPage, readToken, upsertPayment } from '@/tests/bench/payments/same-sql';

export async function GET(request: Request): Promise<Response> {
  const sql = openSql();
  const token = await readToken(sql, request.headers.get('authorization'), 'payments:read');
  return token ? Response.json(await readPage(sql)) : new Response(null, { status: 401 });
}

export async function POST(request: Request): Promise<Response> {
  const sql = openSql();
  const token = await readToken(sql, request.headers.get('authorization'), 'payments:write');
  if (!token) return new Response(null, { status: 401 });
  const { payment, created } = await upsertPayment(sql, token, await request.json());
  return Response.json(payment, { status: created ? 201 : 200 });
}
