import { beforeAll, describe, expect, test } from 'vitest';
import {
  createCustomer,
  createInvoice,
  createSalesDocument,
  createServer,
  createService,
} from '../support/factories';
import { useMcpServer } from './serve-mcp';

const mcp = useMcpServer();
const KB = 1000;

const bytesOf = async (method: string, params?: unknown) => {
  const response = await mcp.post({ jsonrpc: '2.0', id: 1, method, params });
  return (await response.arrayBuffer()).byteLength;
};

describe('tools/list', () => {
  test('is what clients were shown before: a change here is a change of the interface', async () => {
    const { result } = await mcp.rpc('tools/list');
    await expect(`${JSON.stringify(result, null, 2)}\n`).toMatchFileSnapshot('tools-list.txt');
  });

  test('every tool says that it only reads', async () => {
    const { result } = await mcp.rpc('tools/list');
    const tools = result?.tools as { title: string; annotations: unknown }[];
    expect(tools).toHaveLength(6);
    for (const { title, annotations } of tools) {
      expect(annotations).toEqual({
        title,
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      });
    }
  });

  test('stays under 14 KB', async () => {
    expect(await bytesOf('tools/list')).toBeLessThan(14 * KB);
  });
});

describe('a page of 100 rows', () => {
  beforeAll(async () => {
    const customer = await createCustomer(mcp.db, {
      customer_number: 'K-2024-10873',
      company: 'Müller & Söhne Elektrotechnik GmbH & Co. KG',
      email: 'buchhaltung@mueller-elektrotechnik.example',
    });
    const { id: customer_id } = customer;
    const amounts = { subtotal: '1249.50', tax: '237.41', total: '1486.91' };
    const server = await createServer(mcp.db);
    for (let i = 0; i < 100; i++) {
      const { id: converted_to_invoice_id } = await createInvoice(mcp.db, {
        customer_id,
        ...amounts,
        number: `RE-2026-${10000 + i}`,
        stripe_invoice_id: `in_1PqRsTUvWxYzAbCdEfGh${1000 + i}`,
      });
      await createSalesDocument(mcp.db, {
        customer_id,
        ...amounts,
        document_number: `AN-2026-${10000 + i}`,
        type: 'order_confirmation',
        status: 'converted',
        valid_until: '2026-04-01',
        converted_to_invoice_id,
      });
      await createService(mcp.db, {
        customer_id,
        server_id: server.id,
        service_number: `S-2026-${10000 + i}`,
        name: 'Managed Server L, 16 cores',
        domain: `kunde-${1000 + i}.elektro-mueller.example`,
        start_date: '2024-01-01',
        next_billing_date: '2027-01-01',
        ends_on: i % 4 === 0 ? '2027-06-30' : null,
      });
    }
  });

  test.each(['list-services-tool', 'list-invoices-tool', 'list-sales-documents-tool'])(
    '%s stays under 110 KB',
    async (name) => {
      const { structuredContent } = await mcp.callTool(name, { per_page: 100 });
      expect(structuredContent?.data).toHaveLength(100);
      expect(await bytesOf('tools/call', { name, arguments: { per_page: 100 } })).toBeLessThan(110 * KB);
    },
  );
});
