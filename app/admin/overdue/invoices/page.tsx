import { Paper } from '@mantine/core';
import type { CSSProperties } from 'react';
import { toCalendarDate } from '@/lib/dates';
import { type OverdueSum, sumOverdue } from '@/lib/invoices/overdue-worklist';
import { AGE_GROUPS, presentAge } from '@/lib/overdue';
import { getRuntime } from '@/lib/runtime';
import { formatMoney, formatNumber } from '../../../_components/format';
import { TextLink } from '../../../_components/links';
import { toHref } from '../../../_components/search-params';
import { ListPage } from '../../_components/lists/list-page';
import { staffPage } from '../../_components/page/staff-page';
import { OverdueViews } from '../list';
import { AGE_TEXTS, OVERDUE } from './list';
import classes from './overdue-sums.module.css';

export const metadata = { title: OVERDUE.title };

export default staffPage(async ({ search }) => {
  const age = presentAge(search.get('age'));
  if (typeof age === 'string') search.set('age', age);
  return (
    <ListPage list={OVERDUE} search={search} notice={<OverdueViews current="invoices" />}>
      <OverdueSums />
    </ListPage>
  );
});

/** Shows the overdue sums by currency and age. Each sum links to its invoices. */
async function OverdueSums() {
  const { db, env, now } = await getRuntime();
  const sums = await sumOverdue(db, toCalendarDate(now(), env.timeZone));
  const currencies = [...new Set(sums.map(({ currency }) => currency))];
  const ages = AGE_GROUPS.filter((age) => sums.some((sum) => sum.age === age));
  if (currencies.length === 0) return null;
  return (
    <Paper withBorder radius="lg" mb="lg" className={classes.frame ?? ''}>
      {currencies.map((currency) => (
        <dl
          key={currency}
          className={classes.sums}
          style={{ '--ages': ages.length } as CSSProperties}
          aria-label={`Overdue by age, ${currency.toUpperCase()}`}
        >
          {ages.map((age, i) => {
            const sum = sums.find((one) => one.currency === currency && one.age === age);
            return sum ? <Sum key={age} sum={sum} column={i + 1} /> : null;
          })}
        </dl>
      ))}
    </Paper>
  );
}

function Sum({ sum: { currency, age, count, total }, column }: { sum: OverdueSum; column: number }) {
  return (
    <div style={{ '--column': column } as CSSProperties}>
      <dt>{AGE_TEXTS[age]}</dt>
      <dd>
        <TextLink href={toHref(OVERDUE.path, { age, currency })} className="figures">
          {formatMoney(total, currency)}
        </TextLink>
        <span className={classes.count}>{formatNumber(count)}</span>
      </dd>
    </div>
  );
}
