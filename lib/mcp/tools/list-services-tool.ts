import { listServices } from '@/lib/services/queries';
import { serviceFilters, serviceRow } from '@/lib/services/schema';
import { serviceSums, summarizeServices } from '@/lib/services/summarize-services';
import { defineListTool } from '../lists/define-list-tool';
import { withoutPrice } from '../without-price';

export const listServicesTool = defineListTool({
  name: 'list-services-tool',
  title: 'List services',
  scope: 'customers:read',
  description:
    'Lists what customers rent (hosting, domains, servers, licences), by service number, each with its customer. For totals ask with summary true. While has_more, ask for page next_page.',
  filters: serviceFilters,
  personalFilters: ['domain'],
  row: serviceRow,
  list: listServices,
  summarize: summarizeServices,
  summaryRow: serviceSums,
  withoutMoney: withoutPrice,
});
