import { redirect } from 'next/navigation';
import { withParams } from '../../_components/with-params';
import { ListPage } from '../_components/lists/list-page';
import { staffPage } from '../_components/page/staff-page';
import { OVERDUE } from './invoices/list';
import { RECEIVABLES } from './list';
import { OverdueViews } from './overdue-views';

export const metadata = { title: RECEIVABLES.title };

/** Shows what customers owe. An old link with an age leads to the overdue invoices, which it has filtered. */
export default staffPage(async ({ search }) => {
  if (search.has('age')) redirect(withParams(OVERDUE.path, search, {}));
  return <ListPage list={RECEIVABLES} search={search} notice={<OverdueViews current="customers" />} />;
});
