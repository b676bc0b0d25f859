import { ListPage } from '../_components/lists/list-page';
import { staffPage } from '../_components/page/staff-page';
import { CREDIT_NOTES } from './list';

export const metadata = { title: CREDIT_NOTES.title };

export default staffPage(async ({ search }) => <ListPage list={CREDIT_NOTES} search={search} />);
