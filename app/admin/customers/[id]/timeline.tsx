import { Group, Text } from '@mantine/core';
import {
  IconArrowsExchange,
  IconCreditCard,
  IconCreditCardRefund,
  IconFileMinus,
  IconGavel,
  IconLink,
  IconNote,
  IconPencil,
  IconPlug,
  IconRefresh,
  IconTrash,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react';
import { formatDate, formatDay, formatField, formatMoney, joinTexts } from '@/app/_components/format';
import { Link, LinkButton } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import { changedFields } from '@/lib/audit/audit-log';
import { toCalendarDate } from '@/lib/dates';
import { isUnanswered } from '@/lib/payments/money-back';
import { getRuntime } from '@/lib/runtime';
import { isCheck } from '@/lib/sync/staff/check-with-stripe';
import { listTimeline, type TimelineAudit, type TimelineEntry } from '@/lib/timeline/list-timeline';
import { auditValue } from '../../_components/audit/audit-trail';
import { changedField, changedRecord, changeText } from '../../_components/audit/change-list';
import { checkLines } from '../../_components/audit/check/check';
import { StatusBadge, Time } from '../../_components/display/values';
import { Nothing } from '../../_components/page/staff-page';
import { invoiceName } from '../../_components/records/invoice-list';
import {
  MONEY_BACK_KINDS,
  moneyBackSource,
  moneyBackStatus,
} from '../../_components/records/money-back/money-back-list';
import { PAYMENT_SOURCES } from '../../_components/records/payment-list';
import classes from './timeline.module.css';

interface Props {
  customerId: number;
  /** Cursor of an older page. Null for the newest page. */
  before: string | null;
  /** Whether to include the Stripe events whose outcome is `ignored`. */
  withIgnored: boolean;
  /** Whether the person is an admin. Only admins see the tool calls about the customer. */
  isAdmin: boolean;
}

/** Shows a page of the customer's history, grouped by day, the newest entries first. */
export async function Timeline({ customerId, before, withIgnored, isAdmin }: Props) {
  const { db, env } = await getRuntime();
  const { timeZone } = env;
  const options = { timeZone, before, withIgnored, withCalls: isAdmin };
  const { entries, older } = await listTimeline(db, customerId, options);
  if (entries.length === 0) {
    return before ? (
      <Nothing title="Nothing older" text="The timeline ends before this page." />
    ) : (
      <Nothing title="Nothing yet" text="Notes, payments, Stripe events and changes appear here." />
    );
  }
  const linkTo = (place: Record<string, string>, text: string) => {
    const query = { ...(withIgnored && { events: 'all' }), ...place };
    return (
      <LinkButton
        href={`${toHref(`/admin/customers/${customerId}`, query)}#timeline`}
        variant="default"
        size="xs"
      >
        {text}
      </LinkButton>
    );
  };
  return (
    <>
      {byDay(entries, timeZone).map(([day, ofDay]) => (
        <section key={day} aria-label={formatDate(day)}>
          <h3 className={classes.day}>
            <time dateTime={day}>{formatDate(day)}</time>
          </h3>
          <ol className={classes.timeline}>
            {ofDay.map((entry) => (
              <Entry key={entry.key} entry={entry} timeZone={timeZone} />
            ))}
          </ol>
        </section>
      ))}
      {(before || older) && (
        <Group justify="flex-end" gap="xs" p="md" pt={0}>
          {before && linkTo({}, 'Newest')}
          {older && linkTo({ before: older }, 'Older')}
        </Group>
      )}
    </>
  );
}

/** Groups entries by calendar day in the given time zone. Keeps the order of the entries. */
function byDay(entries: TimelineEntry[], timeZone: string): [day: string, entries: TimelineEntry[]][] {
  const days = new Map<string, TimelineEntry[]>();
  for (const entry of entries) {
    const day = isOfDay(entry) ? entry.payment.payment_date : toCalendarDate(entry.at, timeZone);
    days.set(day, [...(days.get(day) ?? []), entry]);
  }
  return [...days];
}

/** Returns true for a payment with a known day but an unknown time. */
function isOfDay(entry: TimelineEntry): entry is Extract<TimelineEntry, { kind: 'payment' }> {
  return entry.kind === 'payment' && entry.isDayOnly;
}

function Entry({ entry, timeZone }: { entry: TimelineEntry; timeZone: string }) {
  const { icon: Icon, text, href, detail, body, status } = toSentence(entry, timeZone);
  return (
    <li className={classes.entry}>
      <span className={classes.icon}>
        <Icon size={16} stroke={1.6} aria-hidden />
      </span>
      <div className={classes.what}>
        <div className={classes.line}>
          {href ? (
            <Link href={href} className={classes.link}>
              {text}
            </Link>
          ) : (
            <span className={classes.link}>{text}</span>
          )}
          {status && <StatusBadge status={status} />}
        </div>
        {body && (
          <Text size="sm" className={`break-anywhere ${classes.body}`}>
            {body}
          </Text>
        )}
        {detail && (
          <Text size="xs" c="dimmed" className="break-anywhere">
            {detail}
          </Text>
        )}
      </div>
      <span className={classes.when}>{!isOfDay(entry) && <Time at={entry.at} timeZone={timeZone} />}</span>
    </li>
  );
}

interface Sentence {
  icon: TablerIcon;
  text: string;
  href: string | null;
  detail: string;
  /** The text of a note, with its line breaks. */
  body?: string;
  /** Status to show as a badge. Absent if the entry needs no badge. */
  status?: string | undefined;
}

type Of<Kind> = Extract<TimelineEntry, { kind: Kind }>;

/** Functions that describe an entry, by kind of entry. */
const SENTENCES: { [Kind in TimelineEntry['kind']]: (entry: Of<Kind>, timeZone: string) => Sentence } = {
  payment: ({ payment }) => {
    const { id, invoice_id, invoice_number, payment_reference, source, status } = payment;
    const invoice = `invoice ${invoiceName({ id: invoice_id, number: invoice_number })}`;
    return {
      icon: IconCreditCard,
      text: `Payment of ${formatMoney(payment.amount, payment.currency)} for ${invoice}`,
      href: `/admin/payments/${id}`,
      detail: joinTexts(payment_reference, PAYMENT_SOURCES[source]),
      status: status === 'completed' ? undefined : status,
    };
  },
  money_back: ({ row }, timeZone) => {
    const { kind, amount, currency, payment_id, payment_reference, reason } = row;
    const due = kind === 'dispute' && isUnanswered(row) ? row.evidence_due_at : null;
    return {
      icon: kind === 'refund' ? IconCreditCardRefund : IconGavel,
      text: `${MONEY_BACK_KINDS[kind]} of ${formatMoney(amount, currency)}: ${moneyBackStatus(row).toLowerCase()}`,
      href: payment_id === null ? null : `/admin/payments/${payment_id}`,
      detail: joinTexts(
        payment_reference,
        reason && formatField(reason),
        due && `Evidence due ${formatDay(due, timeZone)}`,
        moneyBackSource(row),
      ),
    };
  },
  credit_note: ({ note: { kind, number, total, currency, invoice_id, invoice_number, reason } }) => ({
    icon: IconFileMinus,
    text: `${kind === 'cancellation' ? 'Cancellation' : 'Credit note'} ${number} of ${formatMoney(total, currency)}`,
    href: `/admin/invoices/${invoice_id}`,
    detail: joinTexts(`Invoice ${invoiceName({ id: invoice_id, number: invoice_number })}`, reason),
  }),
  event: ({ event: { id, type, object_id, outcome } }) => ({
    icon: IconWebhook,
    text: `Stripe: ${formatField(type.replace(/^customer\.(?=\w+\.)/, '').replaceAll('.', ' ')).toLowerCase()}`,
    href: `/admin/webhooks/${encodeURIComponent(id)}`,
    detail: joinTexts(type, object_id),
    status: outcome === 'processed' ? undefined : outcome,
  }),
  changes: ({ changes }, timeZone) => {
    const [first] = changes;
    const { text, href } = first ? changedRecord(first) : { text: '', href: null };
    const reported = changes.find(({ outcome }) => outcome !== 'fixed');
    return {
      icon: IconArrowsExchange,
      text: `${text} ${reported ? 'differs from' : 'updated from'} Stripe`,
      href,
      detail: changes.map((change) => `${changedField(change)}: ${changeText(change, timeZone)}`).join(' · '),
      status: reported?.outcome,
    };
  },
  note: ({ note: { text, actor_name } }) => ({
    icon: IconNote,
    text: `Note by ${actor_name}`,
    href: null,
    detail: '',
    body: text,
  }),
  call: ({ call: { caller_name, staff_email, tool, outcome } }) => ({
    icon: IconPlug,
    text: `Asked by ${caller_name}`,
    href: null,
    detail: joinTexts(tool, staff_email),
    status: outcome === 'ok' ? undefined : outcome,
  }),
  audit: ({ audit }, timeZone) => {
    const [icon, text] = ACTIONS[audit.action] ?? [
      IconPencil,
      formatField(audit.action.replaceAll('.', ' ')),
    ];
    return {
      icon,
      text: `${text} by ${audit.actor_name}`,
      href: auditedPage(audit),
      detail: auditedText(audit, timeZone),
    };
  },
};

function toSentence<Kind extends TimelineEntry['kind']>(entry: Of<Kind>, timeZone: string): Sentence {
  return SENTENCES[entry.kind as Kind](entry, timeZone);
}

const ACTIONS: Record<string, [icon: TablerIcon, text: string]> = {
  'payment.update': [IconPencil, 'Payment changed'],
  'payment.delete': [IconTrash, 'Payment deleted'],
  'payment.check': [IconRefresh, 'Payment checked with Stripe'],
  'invoice.check': [IconRefresh, 'Invoice checked with Stripe'],
  'subscription.check': [IconRefresh, 'Subscription checked with Stripe'],
  'subscription_item.link': [IconLink, 'Subscription item linked to a service'],
  'subscription_item.unlink': [IconLink, 'Subscription item no longer linked to a service'],
  'subscription_item.move': [IconLink, 'Subscription item lost its service'],
  'stripe_customer.link': [IconLink, 'Stripe customer linked'],
};

function auditedPage({ entity, entity_id, before, after }: TimelineAudit): string | null {
  const image = after ?? before;
  if (entity === 'payment') return `/admin/payments/${entity_id}`;
  if (entity === 'stripe_customer')
    return `/admin/subscriptions/stripe-customers/${String(image?.stripe_customer_id)}`;
  if (entity === 'invoice' || entity === 'subscription') return `/admin/${entity}s/${entity_id}`;
  return image?.subscription_id ? `/admin/subscriptions/${String(image.subscription_id)}` : null;
}

function auditedText(audit: TimelineAudit, timeZone: string): string {
  if (isCheck(audit)) return checkLines(audit, timeZone).join(' · ');
  const { entity, before, after } = audit;
  const image = before ?? after;
  if (entity === 'payment' && !after)
    return `${formatMoney(Number(image?.amount), String(image?.currency))} · ${image?.payment_reference ?? ''}`;
  if (entity === 'payment')
    return changedFields(audit)
      .map(
        ({ field }) =>
          `${formatField(field)}: ${auditValue(before, field, timeZone)} → ${auditValue(after, field, timeZone)}`,
      )
      .join(' · ');
  if (entity === 'stripe_customer') return String(image?.stripe_customer_id);
  return `${before?.service ?? '–'} → ${after?.service ?? '–'}`;
}
