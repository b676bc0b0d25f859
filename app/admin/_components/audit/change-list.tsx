import { Code, Group, Stack, Text } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { formatField, formatInstant } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import type { NamedChange } from '@/lib/sync/reconcile/changes';
import { StripeId } from '../display/stripe-id';
import { Dimmed, StatusBadge } from '../display/values';
import { RecordList } from '../lists/record-list';
import { disputeText } from '../records/money-back/money-back-list';

interface ChangeListProps {
  changes: NamedChange[];
  timeZone: string;
}

/** Lists the records that differed from Stripe, with each field's old and new value and the outcome. */
export function ChangeList({ changes, timeZone }: ChangeListProps) {
  const rows = byRecord(changes);
  return (
    <RecordList
      label="Changes"
      rows={rows}
      columns={[
        { label: 'Record', width: '30%', wraps: true, cell: ({ first }) => <Subject change={first} /> },
        {
          label: 'Before → after',
          wraps: true,
          cell: ({ fields }) => <Fields changes={fields} timeZone={timeZone} />,
        },
        { label: 'Outcome', width: '14%', cell: ({ first }) => <StatusBadge status={first.outcome} /> },
      ]}
      entryOf={({ first, fields }) => ({
        title: <Subject change={first} />,
        detail: <Fields changes={fields} timeZone={timeZone} />,
        state: <StatusBadge status={first.outcome} />,
      })}
    />
  );
}

interface ChangedRecord {
  id: string;
  first: NamedChange;
  fields: NamedChange[];
}

/** Groups changes by record. Changes of the same record with different outcomes form separate groups. */
function byRecord(changes: NamedChange[]): ChangedRecord[] {
  const records = new Map<string, ChangedRecord>();
  for (const change of changes) {
    const id = [change.entity, change.entity_id, change.stripe_id, change.outcome].join(' ');
    const known = records.get(id);
    if (known) known.fields.push(change);
    else records.set(id, { id, first: change, fields: [change] });
  }
  return [...records.values()];
}

function Fields({ changes, timeZone }: ChangeListProps) {
  return (
    <Stack gap={8} c="var(--mantine-color-text)">
      {changes.map((change) => (
        <div key={change.field}>
          <Text size="xs" c="dimmed">
            {changedField(change)}
          </Text>
          <BeforeAfter change={change} timeZone={timeZone} />
        </div>
      ))}
    </Stack>
  );
}

function Subject({ change }: { change: NamedChange }) {
  const { text, name, href } = changedRecord(change);
  return (
    <Stack gap={0} miw={0}>
      {href ? (
        <TextLink href={href} className="break-anywhere">
          {text}
        </TextLink>
      ) : (
        <Text size="sm" fw={500} className="break-anywhere">
          {text}
        </Text>
      )}
      {change.stripe_id && change.stripe_id !== name && <StripeId id={change.stripe_id} />}
    </Stack>
  );
}

function BeforeAfter({ change, timeZone }: { change: NamedChange; timeZone: string }) {
  const sentence = changedSentence(change);
  if (sentence) return <Text size="sm">{sentence}</Text>;
  const textOf = (value: string | null) => value && changedValue(change, value, timeZone);
  return (
    <Group gap={8}>
      <Value text={textOf(change.before)} />
      <IconArrowRight size={14} stroke={1.6} aria-label="became" />
      <Value text={textOf(change.after)} />
    </Group>
  );
}

function Value({ text }: { text: string | null }) {
  if (text === null) return <Dimmed>–</Dimmed>;
  return <Code className="break-anywhere">{text}</Code>;
}

type Change = Omit<NamedChange, 'record'>;

const KINDS: Record<NamedChange['entity'], string> = {
  customer: 'Customer',
  customer_service: 'Service',
  subscription: 'Subscription',
  subscription_item: 'Item',
  invoice: 'Invoice',
  payment: 'Payment',
  refund: 'Refund',
  dispute: 'Dispute',
  account: 'Stripe account',
};

const PLACES: Partial<Record<NamedChange['entity'], string>> = {
  customer: '/admin/customers',
  customer_service: '/admin/services',
  subscription: '/admin/subscriptions',
  invoice: '/admin/invoices',
  payment: '/admin/payments',
};

const FIELDS: Record<string, string> = {
  amount_credited: 'Credited',
  amount_off_stripe: 'Paid outside Stripe',
  balance_applied: 'Settled with the balance at Stripe',
  evidence_due_at: 'Evidence due',
  funds_returned_at: 'Funds returned',
  funds_withdrawn_at: 'Funds withdrawn',
  issued_at: 'Issued',
  linked_customer_id: 'Linked customer',
  payment_id: 'Payment',
  provider_gone_at: 'Not found at Stripe',
  refunded_amount: 'Refunded',
  stripe_charge_id: 'Charge',
  stripe_payment_intent_id: 'Payment intent',
  time_zone: 'Time zone',
};

/**
 * Returns the texts and the page URL of a changed record. Refunds and disputes link to their payment's page, and
 * subscription items to their subscription's page. `href` is null for a Stripe account, for a record that is not in the
 * database, and for a refund or dispute without a payment.
 */
export function changedRecord({ entity, entity_id, stripe_id, record }: NamedChange) {
  const kind = KINDS[entity];
  if (entity === 'refund' || entity === 'dispute') {
    const name = record?.name ?? null;
    const payment = record?.payment_id ?? null;
    return {
      kind,
      name: name ?? stripe_id,
      text: name === null ? `${kind} ${stripe_id ?? entity_id}` : `${kind} of ${name}`,
      href: payment === null ? null : `/admin/payments/${payment}`,
    };
  }
  const name = record?.name ?? entity_id;
  const place = PLACES[entity];
  const ownPage = place ? `${place}/${entity_id}` : `/admin/subscriptions/${record?.subscription_id}`;
  return {
    kind,
    name,
    text: `${kind}${name === null ? '' : ` ${name}`}`,
    href: record && (place || record.subscription_id) ? ownPage : null,
  };
}

export function changedField({ field }: Pick<Change, 'field'>): string {
  return FIELDS[field] ?? formatField(field);
}

/** Describes a reported difference. Returns null for other outcomes, or if showing both values is enough. */
function changedSentence({ entity, field, before, after, outcome }: Change): string | null {
  if (outcome !== 'reported') return null;
  if (entity === 'account') return `${after} at Stripe, ${before} in APP_TIMEZONE`;
  if (entity === 'payment' && field === 'refunded_amount') return `${after} of ${before} was returned`;
  if (entity !== 'refund' && entity !== 'dispute') return null;
  if (field === 'payment_id') return 'No matching payment';
  if (field === 'currency')
    return `In ${after?.toUpperCase()}, but the payment is in ${before?.toUpperCase()}`;
  return null;
}

/** Formats the value of a changed field. Null becomes a dash. */
function changedValue(
  { entity, field }: Pick<Change, 'entity' | 'field'>,
  value: string | null,
  timeZone: string,
): string {
  if (value === null) return '–';
  if (entity === 'dispute' && field === 'status') return disputeText(value);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? formatInstant(value, timeZone) : value;
}

/** Describes a change in one line of text. */
export function changeText(change: Change, timeZone: string): string {
  const textOf = (value: string | null) => changedValue(change, value, timeZone);
  return changedSentence(change) ?? `${textOf(change.before)} → ${textOf(change.after)}`;
}
