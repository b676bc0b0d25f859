import { listInvoices } from '@/lib/invoices/list';
import { invoiceFilters } from '@/lib/invoices/schema';
import { authenticate } from '@/lib/mcp/authenticate';
import { getRuntime } from '@/lib/runtime';

/** Checks the token, runs the query and returns the tool's exact answer, but without an MCP server. */
export async function POST(request: Request): Promise<Response> {
  const runtime = await getRuntime();
  const token = await authenticate(runtime, request);
  if (token instanceof Response) return token;
  const { id, params } = await request.json();
  const page = await listInvoices(runtime.db, invoiceFilters.parse(params.arguments));
  const result = { content: [{ type: 'text', text: JSON.stringify(page) }], structuredContent: page };
  return Response.json({ result, jsonrpc: '2.0', id });
}
