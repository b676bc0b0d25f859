import type { NumberOrigin } from '../../../stripe/provider';
import type { StoredLink } from '../../store/rows';

export type LinkedBy = StoredLink['linked_by'];

export interface Link {
  customerId: number;
  linkedBy: LinkedBy;
  /** The source of the number that links it. Null if no number does, or if the source was not noted. */
  origin: NumberOrigin | null;
}

export function toColumns({ customerId, linkedBy, origin }: Link) {
  return {
    customer_id: customerId,
    linked_by: linkedBy,
    number_source: origin?.source ?? null,
    number_reported_at: origin?.at ?? null,
    number_reported_by: origin?.by ?? null,
  };
}

export function toLink(stored: ReturnType<typeof toColumns>): Link {
  const { number_source: source, number_reported_at: at, number_reported_by: by } = stored;
  return {
    customerId: stored.customer_id,
    linkedBy: stored.linked_by,
    origin: source && { source, at, by },
  };
}
