import { IconLink, IconPencil, IconTrash, type TablerIcon } from '@tabler/icons-react';
import { changedFields } from '@/lib/audit/list-audit';
import type { TimelineAudit } from '@/lib/timeline/entry';
import { formatField, formatMoney } from '../../../_components/format';
import { auditValue } from '../../_components/audit-value';

const ACTIONS: Record<string, [icon: TablerIcon, text: string]> = {
  'payment.update': [IconPencil, 'Payment changed'],
  'payment.delete': [IconTrash, 'Payment deleted'],
  'subscription_item.link': [IconLink, 'Subscription item linked to a service'],
  'subscription_item.unlink': [IconLink, 'Subscription item no longer linked to a service'],
  'subscription_item.move': [IconLink, 'Subscription item lost its service'],
  'stripe_customer.link': [IconLink, 'Stripe customer linked'],
};

/** What somebody did to a customer's payments and links, in words. */
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
