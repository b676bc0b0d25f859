import { listInvoices } from '@/lib/invoices/list';
import { invoiceFilters } from '@/lib/invoices/schema';
import { authenticate } from '@/lib/mcp/authenticate';
import { getRuntime } from '@/lib/runtime';

/** What the tool's answer costs without a tool server: token, query, the same bytes. */
export async function POST(request: Request): Promise<Response> {
  const runtime = await getRuntime();
  const token = await authenticate(runtime, request);
  if (token instanceof Response) return token;
  const { id, params } = await request.json();
  const page = await listInvoices(runtime.db, invoiceFilters.parse(params.arguments));
  const result = { content: [{ type: 'text', text: JSON.stringify(page) }], structuredContent: page };
  return Response.json({ result, jsonrpc: '2.0', id });
}
