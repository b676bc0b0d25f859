import { z } from 'zod';
import { salesDocumentStatus, salesDocumentType } from '@/db/schema';
import { dateRange, isInOrder, oneOf, textLine, WRONG_ORDER } from '../fields';
import { perPageParam } from '../page';

export const DOCUMENT_STATUSES = salesDocumentStatus.enumValues;
export const DOCUMENT_TYPES = salesDocumentType.enumValues;

/** Orders of the staff's list; a minus stands for the latest or largest first. */
const SORTS = ['-date', 'date', '-amount', 'amount'] as const;

/** What staff narrow a list of sales documents to, as they type it. */
export const documentStaffFilters = z
  .object({
    /** A whole number, `#` and our id, or part of a number, name, company or e-mail address. */
    customer: textLine(200).optional(),
    number: textLine(100).optional(),
    type: oneOf(DOCUMENT_TYPES).optional(),
    status: oneOf(DOCUMENT_STATUSES).optional(),
    ...dateRange,
    sort: z.enum(SORTS).catch('-date'),
    per_page: perPageParam,
  })
  .refine(isInOrder, WRONG_ORDER);
export type DocumentStaffFilters = z.infer<typeof documentStaffFilters>;
