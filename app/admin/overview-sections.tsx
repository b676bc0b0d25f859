import { Group, SimpleGrid, Text } from '@mantine/core';
import { IconAlertTriangle, IconChevronRight, IconCircleCheck } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import { Link } from '@/app/_components/links';
import { addDays, toCalendarDate } from '@/lib/dates';
import { MAX_REMINDERS } from '@/lib/invoices/reminders';
import { countDeliveries, countSubscriptions, DELIVERY_DAYS } from '@/lib/overview/counts';
import { type Attention, getAttention, listTasks, type Task } from '@/lib/overview/list-tasks';
import { getOpenDisputes, sumOpenInvoices } from '@/lib/overview/money';
import { listLatestPayments } from '@/lib/payments/list';
import { getRuntime } from '@/lib/runtime';
import { listRuns } from '@/lib/sync/reconcile/run';
import {
  formatCount,
  formatDailyRun,
  formatDate,
  formatInstant,
  formatMoney,
  formatNumber,
} from '../_components/format';
import { TextLink } from '../_components/links';
import { toHref } from '../_components/search-params';
import { BarChart, CurrencySums, Figure, StateCounts } from './_components/display/charts';
import { Instant, StatusBadge } from './_components/display/values';
import listClasses from './_components/lists/list.module.css';
import { Nothing, Section } from './_components/page/staff-page';
import { PaymentList } from './_components/records/payment-list';

/** Lists the tasks that need attention. The page waits for this section, because it is at the top. */
export async function Tasks() {
  const { db, env, now } = await getRuntime();
  const billing = billingTasks(await getAttention(db, toCalendarDate(now(), env.timeZone)));
  const tasks = (await listTasks(db, now(), env)).map(({ code, message, run_id }) => ({
    text: message,
    href: run_id === undefined ? PLACES[code] : `${PLACES[code]}/${run_id}`,
  }));
  const all = [...billing, ...tasks];
  if (all.length > 0) {
    return (
      <Section title="Needs attention">
        {all.map(({ text, href }) => (
          <Link key={text} href={href} className={listClasses.entry}>
            <Group gap="sm" wrap="nowrap">
              <Text c="orange" span display="flex">
                <IconAlertTriangle size={18} stroke={1.8} aria-hidden />
              </Text>
              <Text size="sm" fw={500} flex={1}>
                {text}
              </Text>
              <IconChevronRight size={16} stroke={1.6} aria-hidden />
            </Group>
          </Link>
        ))}
      </Section>
    );
  }
  return (
    <Group gap={8} c="var(--mantine-color-green-light-color)">
      <IconCircleCheck size={18} stroke={1.8} aria-hidden />
      <Text size="sm" fw={500}>
        Nothing needs attention.
      </Text>
    </Group>
  );
}

/** URL that each kind of task links to. If the task is about a reconciliation run, the run's id is appended. */
const PLACES: Record<Task['code'], string> = {
  reconciliation_overdue: '/admin/reconciliation',
  reconciliation_silent: '/admin/reconciliation',
  reconciliation_failed: '/admin/reconciliation',
  reconciliation_drift: '/admin/reconciliation',
  inbox_failures: '/admin/webhooks?outcome=failed',
  inbox_other_mode: '/admin/webhooks?outcome=other_mode',
  inbox_thin: '/admin/webhooks?outcome=thin',
  webhook_refuses: '/admin/webhooks',
  time_zone_differs: '/admin/reconciliation',
  registrations_refused: '/admin/connect',
  counts_wrong: '/admin',
  database_read_only: '/admin',
  disk_full: '/admin',
  disk_low: '/admin',
  staff_tasks: '/admin/tasks',
  money_back_unmatched: '/admin/payments/refunds#unmatched',
  money_back_excess: '/admin/payments/refunds#excess',
  money_back_currency: '/admin/payments/refunds#other_currency',
  events_unmatched: '/admin/webhooks?outcome=unmatched',
  items_unlinked: '/admin/subscriptions?items=unlinked',
  checkouts_waiting: '/admin/subscriptions?checkout=waiting',
  links_proposed: '/admin/subscriptions/stripe-customers/proposals',
  customers_created: '/admin/subscriptions/stripe-customers',
};

/** Returns the tasks about overdue invoices, reminders and past due subscriptions, with links to their lists. */
function billingTasks({ overdue, oldest, past_due, reminders }: Attention) {
  const tasks: { text: string; href: string }[] = [];
  const count = overdue.reduce((sum, one) => sum + one.count, 0);
  if (count > 0 && oldest !== null) {
    const sums = overdue.map(({ total, currency }) => formatMoney(total, currency)).join(', ');
    const text = `${formatCount(count, 'overdue invoice')}: ${sums}; the oldest was due on ${formatDate(oldest)}.`;
    tasks.push({ text, href: '/admin/overdue/invoices' });
  }
  const due = reminders.reduce((sum, one) => sum + Math.min(one, MAX_REMINDERS), 0);
  if (due > 0) {
    const isMore = reminders.some((one) => one > MAX_REMINDERS);
    const text = `${isMore ? 'More than ' : ''}${formatCount(due, 'customer is', 'customers are')} due for a reminder.`;
    tasks.push({ text, href: '/admin/overdue/reminders' });
  }
  if (past_due > 0) {
    const text = `${formatCount(past_due, 'subscription is', 'subscriptions are')} past due.`;
    tasks.push({ text, href: '/admin/subscriptions?status=past_due' });
  }
  return tasks;
}

/** Shows figures for unpaid and overdue invoices, open disputes and the last reconciliation. */
export async function OpenFigures() {
  const { db, env } = await getRuntime();
  const { open, overdue } = await sumOpenInvoices(db);
  const [run] = (await listRuns(db, { page: 1, per_page: 1 })).data;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} spacing="lg">
      <Figure
        label="Open invoices"
        note={
          <>
            <TextLink href="/admin/overdue">Who owes most</TextLink>
            {' · '}
            <TextLink href="/admin/invoices?status=open">Open invoices</TextLink>
          </>
        }
      >
        <CurrencySums sums={open} noun="open invoice" />
      </Figure>
      <Figure label="Overdue" note={<TextLink href="/admin/overdue/invoices">Overdue by age</TextLink>}>
        <CurrencySums sums={overdue} noun="overdue invoice" />
      </Figure>
      <OpenDisputes />
      <Figure
        label="Last reconciliation"
        value={run ? <Instant at={run.started_at} timeZone={env.timeZone} /> : 'Not yet'}
        note={
          run ? (
            <TextLink href={`/admin/reconciliation/${run.id}`}>See the run</TextLink>
          ) : (
            `It runs daily at ${formatDailyRun(env.scheduleTimeZone)}`
          )
        }
      >
        {run && (
          <>
            <StatusBadge status={run.status} /> {formatCount(run.changes_count, 'change')}
          </>
        )}
      </Figure>
    </SimpleGrid>
  );
}

/** Shows the number of open disputes, how many need an answer, and the next deadline for an answer. */
async function OpenDisputes() {
  const { db, env } = await getRuntime();
  const { count, unanswered, next_due } = await getOpenDisputes(db);
  return (
    <Figure
      label="Open disputes"
      value={count > 0 ? formatNumber(count) : 'No open disputes'}
      note={<TextLink href="/admin/payments?status=disputed">Disputed payments</TextLink>}
    >
      {unanswered > 0 && (
        <>
          {formatCount(unanswered, 'answer')} needed
          {next_due && (
            <>
              , the next by <Instant at={next_due} timeZone={env.timeZone} />
            </>
          )}
        </>
      )}
    </Figure>
  );
}

/** Counts subscriptions by status. Each count links to the list filtered by that status. */
export async function SubscriptionStates() {
  const { db } = await getRuntime();
  return (
    <States
      title="Subscriptions"
      href="/admin/subscriptions"
      filter="status"
      counts={await countSubscriptions(db)}
      nothing={{ title: 'None yet', text: 'They appear here as soon as Stripe reports one.' }}
    />
  );
}

/** Counts the Stripe events of the last `DELIVERY_DAYS` days by outcome. */
export async function Deliveries() {
  const { db, env, now } = await getRuntime();
  const from = addDays(toCalendarDate(now(), env.timeZone), 1 - DELIVERY_DAYS);
  return (
    <States
      title={`Webhooks, ${DELIVERY_DAYS} days`}
      href="/admin/webhooks"
      filter="outcome"
      period={{ from }}
      counts={await countDeliveries(db, from, env.timeZone)}
      nothing={{ title: 'No events yet', text: 'Stripe delivered no events in this period.' }}
    />
  );
}

interface StatesProps extends Pick<ComponentProps<typeof StateCounts>, 'counts'> {
  title: string;
  /** URL of the list of all records. */
  href: string;
  /** Query parameter that filters the list by state. */
  filter: string;
  /** Query parameters that limit the list to the counted records. */
  period?: Record<string, string>;
  nothing: { title: string; text: string };
}

function States({ title, href, filter, period, counts, nothing }: StatesProps) {
  return (
    <Section title={title} action={<TextLink href={href}>All</TextLink>}>
      {counts.length > 0 ? (
        <StateCounts counts={counts} hrefOf={(state) => toHref(href, { [filter]: state, ...period })} />
      ) : (
        <Nothing {...nothing} />
      )}
    </Section>
  );
}

const RUNS = 14;

/** Shows a chart with the number of changes that each of the latest reconciliation runs made or reported. */
export async function Drift() {
  const { db, env } = await getRuntime();
  const runs = (await listRuns(db, { page: 1, per_page: RUNS })).data.toReversed();
  const [first, last] = [runs.at(0), runs.at(-1)];
  const dateOf = (at: Date) => formatDate(toCalendarDate(at, env.timeZone));
  return (
    <Section
      title="Reconciliation changes"
      action={<TextLink href="/admin/reconciliation">All runs</TextLink>}
    >
      {first && last ? (
        <BarChart
          label={`Changes in the last ${formatCount(runs.length, 'run')}: ${runs.map((run) => run.changes_count).join(', ')}`}
          bars={runs.map((run) => ({
            name: String(run.id),
            value: run.changes_count,
            title: `${formatInstant(run.started_at, env.timeZone)}: ${formatCount(run.changes_count, 'change')}`,
          }))}
          formatTick={formatNumber}
          isWhole
          ends={[dateOf(first.started_at), dateOf(last.started_at)]}
        />
      ) : (
        <Nothing
          title="No runs yet"
          text={`The first one starts at ${formatDailyRun(env.scheduleTimeZone)}.`}
        />
      )}
    </Section>
  );
}

const LATEST = 8;

export async function LatestPayments() {
  const { db } = await getRuntime();
  const latest = await listLatestPayments(db, LATEST);
  return (
    <Section title="Latest payments" action={<TextLink href="/admin/payments">All payments</TextLink>}>
      <PaymentList rows={latest} />
    </Section>
  );
}
