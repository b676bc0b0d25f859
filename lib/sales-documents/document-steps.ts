import type { salesDocuments } from '@/db/schema';
import type { Step } from '../records/take-step';

type Document = Pick<typeof salesDocuments.$inferSelect, 'type' | 'status'>;

/** The steps that people take a document by; what it becomes converts it. */
export const DOCUMENT_STEPS = {
  send: { from: ['draft'], to: 'sent' },
  accept: { from: ['sent'], to: 'accepted' },
  reject: { from: ['sent'], to: 'rejected' },
  expire: { from: ['sent'], to: 'expired' },
} satisfies Record<string, Step>;

/** The states that a step leads to from this one. */
export function nextStatuses(status: string): string[] {
  const steps: Step[] = Object.values(DOCUMENT_STEPS);
  return steps.filter(({ from }) => from.includes(status)).map(({ to }) => to);
}

/** What can become of a document. */
export const CONVERSIONS = ['order_confirmation', 'invoice'] as const;
export type Conversion = (typeof CONVERSIONS)[number];

/** What a document can become: an offer once it is accepted, an order confirmation once it is out. */
export function conversionsOf({ type, status }: Document): Conversion[] {
  if (type === 'offer') return status === 'accepted' ? [...CONVERSIONS] : [];
  return status === 'sent' || status === 'accepted' ? ['invoice'] : [];
}
