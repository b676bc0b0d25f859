import { redirect } from 'next/navigation';
import { sumOpenInvoices } from '@/lib/overview/money';
import { withParams } from '../../_components/with-params';
import { ListPage } from '../_components/lists/list-page';
import { Choice } from '../_components/lists/paged-list';
import { staffPage } from '../_components/page/staff-page';
import { OVERDUE } from './invoices/list';
import { OverdueViews, RECEIVABLES } from './list';

export const metadata = { title: RECEIVABLES.title };

/**
 * Shows what customers owe. If the URL names neither a currency nor a customer, the page chooses the currency with the
 * most unpaid invoices. An old link that filters by age redirects to the list of overdue invoices.
 */
export default staffPage(async ({ db, search }) => {
  if (search.has('age')) redirect(withParams(OVERDUE.path, search, {}));
  const codes = (await sumOpenInvoices(db)).open.map(({ currency }) => currency);
  const [usual] = codes;
  if (usual && !search.has('currency') && !search.has('customer')) search.set('currency', usual);
  return (
    <ListPage list={RECEIVABLES} search={search} notice={<OverdueViews current="customers" />}>
      {codes.length > 1 && (
        <Choice
          label="Currency"
          mb="md"
          current={search.get('currency')?.toLowerCase() ?? 'all'}
          options={[...codes, 'all'].map((code) => ({
            value: code,
            text: code === 'all' ? 'All currencies' : code.toUpperCase(),
            href: withParams(RECEIVABLES.path, search, { currency: code, after: null, before: null }),
          }))}
        />
      )}
    </ListPage>
  );
});
