import { Group } from '@mantine/core';
import { conversionsOf, nextStatuses } from '@/lib/sales-documents/document-steps';
import type { SalesDocumentDetails } from '@/lib/sales-documents/get-sales-document';
import { formatMoney } from '../../../_components/format';
import { LinkButton } from '../../../_components/links';
import { ConfirmButton } from '../../_components/confirm-button';
import { PATH } from '../path';
import { convert, move } from './actions';

const STEPS: Record<string, { label: string; question: string; consequence: string }> = {
  sent: {
    label: 'Mark as sent',
    question: 'Mark this document as sent?',
    consequence: 'Its content cannot be changed any more. No e-mail goes out.',
  },
  accepted: {
    label: 'Accepted',
    question: 'Has the customer accepted it?',
    consequence: 'It can be converted then.',
  },
  rejected: {
    label: 'Rejected',
    question: 'Has the customer rejected it?',
    consequence: 'This is for good.',
  },
  expired: { label: 'Expired', question: 'Has it expired?', consequence: 'This is for good.' },
};

const CONVERSIONS = {
  order_confirmation: { label: 'Make order confirmation', noun: 'an order confirmation' },
  invoice: { label: 'Make invoice', noun: 'an invoice' },
};

/** What staff can do with a document as they see it: of one that has changed since, nothing. */
export function DocumentSteps({ document }: { document: SalesDocumentDetails }) {
  const { id, version, document_number: number } = document;
  const named = `${number}, ${formatMoney(document.total, document.currency)}`;
  return (
    <Group gap="xs" key={version}>
      {document.status === 'draft' && (
        <LinkButton href={`${PATH}/${id}/edit`} variant="default">
          Edit
        </LinkButton>
      )}
      {nextStatuses(document).map((status) => {
        const { label = status, question = '', consequence = '' } = STEPS[status] ?? {};
        return (
          <ConfirmButton
            key={status}
            action={move.bind(null, id, version, status)}
            question={question}
            confirm={`Yes, ${label.toLowerCase()}`}
            consequences={[named, consequence]}
          >
            {label}
          </ConfirmButton>
        );
      })}
      {conversionsOf(document).map((to) => (
        <ConfirmButton
          key={to}
          action={convert.bind(null, id, version, to)}
          question={`Make ${CONVERSIONS[to].noun} of it?`}
          confirm="Yes, make it"
          consequences={[named, 'It becomes a draft with the same customer and lines. This is done once.']}
        >
          {CONVERSIONS[to].label}
        </ConfirmButton>
      ))}
    </Group>
  );
}
