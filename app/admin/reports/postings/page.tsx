import { ListPage } from '../../_components/lists/list-page';
import { staffPage } from '../../_components/page/staff-page';
import { POSTINGS } from './list';

export const metadata = { title: POSTINGS.title };

export default staffPage(async ({ search }) => <ListPage list={POSTINGS} search={search} />);
