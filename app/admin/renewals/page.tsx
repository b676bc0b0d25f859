import { SimpleGrid } from '@mantine/core';
import { getRuntime } from '@/lib/runtime';
import { type RenewalSum, renewalFilters, sumRenewals } from '@/lib/services/renewals';
import { formatCount, formatMoney, formatMonth } from '../../_components/format';
import { parseFilters } from '../_components/lists/list-declaration';
import { ListPage } from '../_components/lists/list-page';
import { Section, staffPage } from '../_components/page/staff-page';
import { daysOf, RENEWALS } from './list';

export const metadata = { title: RENEWALS.title };

export default staffPage(async ({ search }) => (
  <ListPage list={RENEWALS} search={search}>
    <RenewalSums search={search} />
  </ListPage>
));

/** Maximum number of months to show. */
const MONTHS = 6;

/** Shows monthly renewal sums for services and for subscription items. */
async function RenewalSums({ search }: { search: URLSearchParams }) {
  const { filters } = parseFilters(renewalFilters, search);
  if (!filters) return null;
  const runtime = await getRuntime();
  const days = daysOf(filters, runtime);
  const services = await sumRenewals(runtime.db, 'services', days);
  const subscriptions = await sumRenewals(runtime.db, 'subscriptions', days);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" mb="lg">
      <Sums title="Services" noun="service" sums={services} />
      <Sums title="Subscriptions" noun="item" sums={subscriptions} />
    </SimpleGrid>
  );
}

function Sums({ title, noun, sums }: { title: string; noun: string; sums: RenewalSum[] }) {
  const months = [...new Set(sums.map(({ month }) => month))].slice(0, MONTHS);
  const linesOf = (month: string) =>
    sums
      .filter((sum) => sum.month === month)
      .map(({ total, currency, count }) => (
        <div key={currency}>
          {formatMoney(total, currency)} · {formatCount(count, noun)}
        </div>
      ));
  return (
    <Section
      title={title}
      facts={Object.fromEntries(months.map((month) => [formatMonth(month), linesOf(month)]))}
      none={months.length === 0 && 'Nothing renews on these days.'}
    />
  );
}
