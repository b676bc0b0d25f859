import { ListPage } from '../_components/lists/list-page';
import { staffPage } from '../_components/page/staff-page';
import { EVENTS } from './list';

export const metadata = { title: EVENTS.title };

export default staffPage(async ({ search }) => <ListPage list={EVENTS} search={search} />);
