import { ListPage } from '../../_components/lists/list-page';
import { staffPage } from '../../_components/page/staff-page';
import { CUSTOMER_AMOUNTS } from './list';

export const metadata = { title: CUSTOMER_AMOUNTS.title };

export default staffPage(async ({ search }) => <ListPage list={CUSTOMER_AMOUNTS} search={search} />);
