import { IconLink, IconPencil, IconRefresh, IconTrash, type TablerIcon } from '@tabler/icons-react';
import { changedFields } from '@/lib/audit/audit-log';
import { isCheck } from '@/lib/sync/staff/check-with-stripe';
import type { TimelineAudit } from '@/lib/timeline/sources';
import { formatField, formatMoney } from '../../../_components/format';
import { auditValue } from '../../_components/audit/audit-value';
import { checkLines } from '../../_components/audit/check/check-lines';

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

/** Describes a change of a customer's payments and links. */
export function toAuditSentence(audit: TimelineAudit, timeZone: string) {
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
  if (entity === 'invoice' || entity === 'subscription') return `/admin/${entity}s/${entity_id}`;
  return image?.subscription_id ? `/admin/subscriptions/${String(image.subscription_id)}` : null;
}

function auditedText(audit: TimelineAudit, timeZone: string): string {
  if (isCheck(audit)) return checkLines(audit, timeZone).join(' · ');
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
