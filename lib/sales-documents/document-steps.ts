import type { salesDocuments } from '@/db/schema';

type Document = Pick<typeof salesDocuments.$inferSelect, 'type' | 'status'>;
type Status = Document['status'];

const NEXT: Record<Status, Status[]> = {
  draft: ['sent'],
  sent: ['accepted', 'rejected', 'expired'],
  accepted: [],
  rejected: [],
  expired: [],
  converted: [],
};

/** The states that people may bring a document to from where it is; what it becomes converts it. */
export const nextStatuses = ({ status }: Pick<Document, 'status'>): Status[] => NEXT[status];

/** What can become of a document. */
export const CONVERSIONS = ['order_confirmation', 'invoice'] as const;
export type Conversion = (typeof CONVERSIONS)[number];

/** What a document can become: an offer once it is accepted, an order confirmation once it is out. */
export function conversionsOf({ type, status }: Document): Conversion[] {
  if (type === 'offer') return status === 'accepted' ? [...CONVERSIONS] : [];
  return status === 'sent' || status === 'accepted' ? ['invoice'] : [];
}
