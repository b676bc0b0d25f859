import { waitUntil } from '@vercel/functions';
import { createMcpHandler, withMcpAuth } from 'mcp-handler';
import { z } from 'zod';
import { touchAccessToken, verifyAccessToken } from '@/lib/auth/tokens/access-token';
import { findCustomers } from '@/lib/customers/find-customers';
import { getCustomer } from '@/lib/customers/queries';
import { customerId, customerMatches, customerQuery, customerRow } from '@/lib/customers/schema';
import { listInvoices } from '@/lib/invoices/queries';
import { invoiceFilters, invoicePage } from '@/lib/invoices/schema';
import { getRuntime } from '@/lib/runtime';
import { listSalesDocuments } from '@/lib/sales-documents/queries';
import { salesDocumentFilters, salesDocumentPage } from '@/lib/sales-documents/schema';
import { listServers } from '@/lib/servers/queries';
import { serverRow } from '@/lib/servers/schema';
import { listServices } from '@/lib/services/queries';
import { serviceFilters, servicePage } from '@/lib/services/schema';

const serverList = z.object({ count: z.int(), data: z.array(serverRow) });

function toResult(output: object) {
  return {
    content: [{ type: 'text' as const, text: JSON.stringify(output) }],
    structuredContent: { ...output },
  };
}

/** The six tools as mcp-handler's documentation would have them written. */
const handler = createMcpHandler((server) => {
  server.registerTool(
    'find-customer-tool',
    { inputSchema: z.strictObject({ query: customerQuery }), outputSchema: customerMatches },
    async ({ query }) => toResult(await findCustomers((await getRuntime()).db, query)),
  );
  server.registerTool(
    'get-customer-tool',
    { inputSchema: z.strictObject({ id: customerId }), outputSchema: customerRow },
    async ({ id }) => toResult((await getCustomer((await getRuntime()).db, { id })) ?? {}),
  );
  server.registerTool(
    'list-services-tool',
    { inputSchema: serviceFilters, outputSchema: servicePage },
    async (filters) => toResult(await listServices((await getRuntime()).db, filters)),
  );
  server.registerTool(
    'list-invoices-tool',
    { inputSchema: invoiceFilters, outputSchema: invoicePage },
    async (filters) => toResult(await listInvoices((await getRuntime()).db, filters)),
  );
  server.registerTool(
    'list-sales-documents-tool',
    { inputSchema: salesDocumentFilters, outputSchema: salesDocumentPage },
    async (filters) => toResult(await listSalesDocuments((await getRuntime()).db, filters)),
  );
  server.registerTool(
    'list-servers-tool',
    { inputSchema: z.strictObject({}), outputSchema: serverList },
    async () => {
      const data = await listServers((await getRuntime()).db);
      return toResult({ count: data.length, data });
    },
  );
});

export const POST = withMcpAuth(
  handler,
  async (_request, bearer) => {
    const { db, now } = await getRuntime();
    const token = await verifyAccessToken(db, bearer ?? '', now());
    if (!token) return undefined;
    waitUntil(touchAccessToken(db, token, now()));
    return { token: bearer ?? '', clientId: String(token.id), scopes: token.scopes };
  },
  { required: true, requiredScopes: ['mcp:read'] },
);
