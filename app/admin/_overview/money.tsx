import { Group, Stack, Text } from '@mantine/core';
import { toCalendarDate } from '@/lib/dates';
import { getMoneyReceived, type MoneyReceived, PERIODS, type Period } from '@/lib/overview/money-received';
import { getRuntime } from '@/lib/runtime';
import { formatCount, formatDate, formatMoney, formatShortMoney } from '../../_components/format';
import { BarChart } from '../_components/bar-chart';
import { Nothing } from '../_components/nothing';
import { Section } from '../_components/section';
import { Choice } from './choice';

interface Props {
  period: Period;
  wanted: string | undefined;
}

/** What customers paid, day by day. */
export async function Money({ period, wanted }: Props) {
  const { db, env, now } = await getRuntime();
  const received = await getMoneyReceived(db, toCalendarDate(now(), env.timeZone), period, wanted);
  const { sums, currency } = received;
  const to = (days: number, code: string | null) => `/admin?days=${days}${code ? `&currency=${code}` : ''}`;
  return (
    <Section
      title="Money received"
      action={
        <Group gap="lg">
          {sums.length > 1 && currency && (
            <Choice
              label="Currency"
              current={currency}
              options={sums.map((sum) => ({
                value: sum.currency,
                text: sum.currency.toUpperCase(),
                href: to(period, sum.currency),
              }))}
            />
          )}
          <Choice
            label="Period"
            current={String(period)}
            options={PERIODS.map((days) => ({
              value: String(days),
              text: `${days} days`,
              href: to(days, wanted === undefined ? null : currency),
            }))}
          />
        </Group>
      }
    >
      {currency ? <Chart received={received} currency={currency} period={period} /> : <NoMoney />}
    </Section>
  );
}

interface ChartProps {
  received: MoneyReceived;
  currency: string;
  period: Period;
}

function Chart({ received: { sums, days }, currency, period }: ChartProps) {
  const sum = sums.find((one) => one.currency === currency);
  const [total, count] = [formatMoney(sum?.total ?? 0, currency), formatCount(sum?.count ?? 0, 'payment')];
  return (
    <>
      <Stack gap={0} px="md" pt="md">
        <Text fw={600} fz="xl" className="figures">
          {total}
        </Text>
        <Text size="sm" c="dimmed">
          {count} in {period} days
        </Text>
      </Stack>
      <BarChart
        label={`Completed payments a day over ${period} days: ${count}, ${total} in all`}
        bars={days.map((day) => ({
          name: day.date,
          value: day.total,
          title: `${formatDate(day.date)}: ${formatMoney(day.total, currency)}, ${formatCount(day.count, 'payment')}`,
        }))}
        formatTick={(value) => formatShortMoney(value, currency)}
        ends={[formatDate(days[0]?.date ?? ''), formatDate(days.at(-1)?.date ?? '')]}
      />
    </>
  );
}

function NoMoney() {
  return <Nothing title="No payments in this time" text="Completed payments are shown here by day." />;
}
