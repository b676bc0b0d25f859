import { listServices } from '@/lib/services/queries';
import { serviceFilters, servicePage } from '@/lib/services/schema';
import { defineTool } from '../define-tool';

export const listServicesTool = defineTool({
  name: 'list-services-tool',
  title: 'List services',
  description:
    'Lists what customers rent (hosting, domains, servers, licences), by service number, each with its customer. One page at a time: while page is below last_page, ask again with page + 1.',
  input: serviceFilters,
  output: servicePage,
  run: listServices,
});
