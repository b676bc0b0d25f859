import {
  IconArrowsExchange,
  IconCreditCard,
  IconCreditCardRefund,
  IconGavel,
  IconNote,
  IconPlug,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react';
import { isUnanswered, type MoneyBackRow } from '@/lib/payments/money-back';
import type { TimelineEntry, TimelinePayment } from '@/lib/timeline/sources';
import { formatDay, formatField, formatMoney } from '../../../_components/format';
import { changedField, changedRecord, changeText } from '../../_components/audit/changed-record';
import { invoiceName } from '../../_components/records/invoice-list';
import {
  MONEY_BACK_KINDS,
  moneyBackSource,
  moneyBackStatus,
} from '../../_components/records/money-back/words';
import { PAYMENT_SOURCES } from '../../_components/records/payment-sources';
import { toAuditSentence } from './to-audit-sentence';

interface Sentence {
  icon: TablerIcon;
  text: string;
  href: string | null;
  detail: string;
  /** The text of a note, with its line breaks. */
  body?: string;
  /** Where it is not the usual one. */
  status?: string | undefined;
}

/** What happened, in words. */
export function toSentence(entry: TimelineEntry, timeZone: string): Sentence {
  if (entry.kind === 'payment') return ofPayment(entry.payment);
  if (entry.kind === 'money_back') return ofMoneyBack(entry.row, timeZone);
  if (entry.kind === 'event') return ofEvent(entry.event);
  if (entry.kind === 'note') return ofNote(entry.note);
  if (entry.kind === 'call') return ofCall(entry.call);
  if (entry.kind === 'audit') return toAuditSentence(entry.audit, timeZone);
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

function ofMoneyBack(row: MoneyBackRow, timeZone: string): Sentence {
  const { kind, amount, currency, payment_id, payment_reference, reason } = row;
  const due = kind === 'dispute' && isUnanswered(row) ? row.evidence_due_at : null;
  return {
    icon: kind === 'refund' ? IconCreditCardRefund : IconGavel,
    text: `${MONEY_BACK_KINDS[kind]} of ${formatMoney(amount, currency)}: ${moneyBackStatus(row).toLowerCase()}`,
    href: payment_id === null ? null : `/admin/payments/${payment_id}`,
    detail: [
      payment_reference,
      reason && formatField(reason),
      due && `Evidence due ${formatDay(due, timeZone)}`,
      moneyBackSource(row),
    ]
      .filter(Boolean)
      .join(' · '),
  };
}

type Of<Kind> = Extract<TimelineEntry, { kind: Kind }>;

function ofNote({ text, actor_name }: Of<'note'>['note']): Sentence {
  return { icon: IconNote, text: `Note by ${actor_name}`, href: null, detail: '', body: text };
}

function ofCall({ caller_name, staff_email, tool, outcome }: Of<'call'>['call']): Sentence {
  return {
    icon: IconPlug,
    text: `Asked by ${caller_name}`,
    href: null,
    detail: [tool, staff_email].filter(Boolean).join(' · '),
    status: outcome === 'ok' ? undefined : outcome,
  };
}

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
  const reported = changes.find(({ outcome }) => outcome !== 'fixed');
  return {
    icon: IconArrowsExchange,
    text: `${text} ${reported ? 'differs from' : 'updated from'} Stripe`,
    href,
    detail: changes.map((change) => `${changedField(change)}: ${changeText(change, timeZone)}`).join(' · '),
    status: reported?.outcome,
  };
}
