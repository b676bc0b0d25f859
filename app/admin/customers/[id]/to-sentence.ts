import {
  IconArrowsExchange,
  IconCreditCard,
  IconLink,
  IconPencil,
  IconTrash,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react';
import { changedFields } from '@/lib/audit/list-audit';
import type { TimelineAudit, TimelineEntry, TimelinePayment } from '@/lib/timeline/entry';
import { formatField, formatMoney } from '../../../_components/format';
import { auditValue } from '../../_components/audit-value';
import { changedField, changedRecord, changedValue } from '../../_components/changed-record';
import { invoiceName } from '../../_components/invoice-list';
import { PAYMENT_SOURCES } from '../../_components/payment-sources';

interface Sentence {
  icon: TablerIcon;
  text: string;
  href: string | null;
  detail: string;
  /** Where it is not the usual one. */
  status?: string | undefined;
}

/** What happened, in words. */
export function toSentence(entry: TimelineEntry, timeZone: string): Sentence {
  if (entry.kind === 'payment') return ofPayment(entry.payment);
  if (entry.kind === 'event') return ofEvent(entry.event);
  if (entry.kind === 'audit') return ofAudit(entry.audit, timeZone);
  return ofChanges(entry.changes, timeZone);
}

function ofPayment(payment: TimelinePayment): Sentence {
  const { invoice_id, invoice_number, payment_reference, source, status } = payment;
  const invoice = `invoice ${invoiceName({ id: invoice_id, number: invoice_number })}`;
  return {
    icon: IconCreditCard,
    text: `Payment of ${formatMoney(payment.amount, payment.currency)} for ${invoice}`,
    href: `/admin/payments/${payment.id}`,
    detail: [payment_reference, PAYMENT_SOURCES[source]].join(' · '),
    status: status === 'completed' ? undefined : status,
  };
}

type Of<Kind> = Extract<TimelineEntry, { kind: Kind }>;

function ofEvent({ id, type, object_id, outcome }: Of<'event'>['event']): Sentence {
  return {
    icon: IconWebhook,
    text: `Stripe: ${formatField(type.replace(/^customer\.(?=\w+\.)/, '').replaceAll('.', ' ')).toLowerCase()}`,
    href: `/admin/webhooks/${encodeURIComponent(id)}`,
    detail: [type, object_id].filter(Boolean).join(' · '),
    status: outcome === 'processed' ? undefined : outcome,
  };
}

function ofChanges(changes: Of<'changes'>['changes'], timeZone: string): Sentence {
  const [first] = changes;
  const { text, href } = first ? changedRecord(first) : { text: '', href: null };
  const textOf = (value: string | null) => changedValue(value, timeZone);
  const reported = changes.find(({ outcome }) => outcome !== 'fixed');
  return {
    icon: IconArrowsExchange,
    text: `${text} ${reported ? 'differs from' : 'brought into step with'} Stripe`,
    href,
    detail: changes
      .map((change) => `${changedField(change)}: ${textOf(change.before)} → ${textOf(change.after)}`)
      .join(' · '),
    status: reported?.outcome,
  };
}

const ACTIONS: Record<string, [icon: TablerIcon, text: string]> = {
  'payment.update': [IconPencil, 'Payment changed'],
  'payment.delete': [IconTrash, 'Payment deleted'],
  'subscription_item.link': [IconLink, 'Subscription item linked to a service'],
  'subscription_item.unlink': [IconLink, 'Subscription item no longer linked to a service'],
  'subscription_item.move': [IconLink, 'Subscription item lost its service'],
  'stripe_customer.link': [IconLink, 'Stripe customer linked'],
};

function ofAudit(audit: TimelineAudit, timeZone: string): Sentence {
  const [icon, text] = ACTIONS[audit.action] ?? [IconPencil, formatField(audit.action.replaceAll('.', ' '))];
  return {
    icon,
    text: `${text} by ${audit.actor_name}`,
    href: auditedPage(audit),
    detail: auditedText(audit, timeZone),
  };
}

function auditedPage({ entity, entity_id, before, after }: TimelineAudit): string | null {
  const image = after ?? before;
  if (entity === 'payment') return `/admin/payments/${entity_id}`;
  if (entity === 'stripe_customer')
    return `/admin/subscriptions/stripe-customers/${String(image?.stripe_customer_id)}`;
  return image?.subscription_id ? `/admin/subscriptions/${String(image.subscription_id)}` : null;
}

function auditedText(audit: TimelineAudit, timeZone: string): string {
  const { entity, before, after } = audit;
  const image = before ?? after;
  if (entity === 'payment' && !after)
    return [formatMoney(Number(image?.amount), String(image?.currency)), image?.payment_reference].join(
      ' · ',
    );
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
