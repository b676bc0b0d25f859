import { staffRecordWriter } from '../records/staff-writer';
import type { PaymentWriter } from './write-payment';

/** A payment written by a member of staff. */
export function staffWriter(...by: Parameters<typeof staffRecordWriter>): PaymentWriter {
  return { ...staffRecordWriter(...by), source: 'staff' };
}
