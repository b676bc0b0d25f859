import { ListPage } from '../../_components/lists/list-page';
import { adminPage } from '../../_components/page/staff-page';
import { CALLS } from './list';

export const metadata = { title: 'Tool calls' };

/** Shows the log of MCP tool calls. */
export default adminPage(async ({ search }) => <ListPage list={CALLS} search={search} />);
