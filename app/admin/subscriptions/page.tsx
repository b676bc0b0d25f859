import { ListPage } from '../_components/lists/list-page';
import { staffPage } from '../_components/page/staff-page';
import { SUBSCRIPTIONS } from './list';

export const metadata = { title: SUBSCRIPTIONS.title };

export default staffPage(async ({ search }) => <ListPage list={SUBSCRIPTIONS} search={search} />);
