import type { Caller } from '../caller';
import type { Tool } from '../define-tool';
import { findCustomerTool } from './find-customer-tool';
import { getCustomerTool } from './get-customer-tool';
import { listInvoicesTool } from './list-invoices-tool';
import { listSalesDocumentsTool } from './list-sales-documents-tool';
import { listServersTool } from './list-servers-tool';
import { listServicesTool } from './list-services-tool';

/** In the order of tools/list, which is part of the wire's form. */
export const TOOLS: readonly Tool[] = [
  findCustomerTool,
  getCustomerTool,
  listServicesTool,
  listInvoicesTool,
  listSalesDocumentsTool,
  listServersTool,
];

/** What a caller may use. */
export function listTools({ reads }: Pick<Caller, 'reads'>): { tools: Tool['wire'][] } {
  return { tools: TOOLS.filter(({ scope }) => reads.includes(scope)).map(({ wire }) => wire) };
}
