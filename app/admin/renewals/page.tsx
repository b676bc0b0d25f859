import { SimpleGrid } from '@mantine/core';
import { getRuntime } from '@/lib/runtime';
import {
  type Days,
  daysOfSum,
  type RENEWING,
  type RenewalSum,
  renewalFilters,
  sumRenewals,
} from '@/lib/services/renewals';
import { formatCount, formatMoney, formatMonth } from '../../_components/format';
import { TextLink } from '../../_components/links';
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
      <Sums title="Services" of="services" noun="service" sums={services} days={days} />
      <Sums
        title="Subscriptions, before discounts"
        of="subscriptions"
        noun="item"
        sums={subscriptions}
        days={days}
      />
    </SimpleGrid>
  );
}

interface SumsProps {
  title: string;
  of: (typeof RENEWING)[number];
  noun: string;
  sums: RenewalSum[];
  days: Days;
}

/**
 * Shows the renewal sums of the first `MONTHS` months that have renewals. Each sum links to the renewals of its month
 * within `days`, in all currencies.
 */
function Sums({ title, of, noun, sums, days }: SumsProps) {
  const months = [...new Set(sums.map(({ month }) => month))].slice(0, MONTHS);
  const linesOf = (month: string) =>
    sums
      .filter((sum) => sum.month === month)
      .map(({ total, currency, count }) => (
        <div key={currency}>
          <TextLink href={`${RENEWALS.path}?${new URLSearchParams({ of, ...daysOfSum({ month }, days) })}`}>
            {formatMoney(total, currency)} · {formatCount(count, noun)}
          </TextLink>
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
