import { z } from 'zod';
import { toolCallOutcome } from '@/db/schema';
import { dateRange, isInOrder, oneOf, rowId, textLine, WRONG_ORDER } from '../fields';

export const CALL_OUTCOMES = toolCallOutcome.enumValues;

/** What staff narrow the log of calls to. */
export const callFilters = z
  .object({
    /** Part of a token's name, a client's, or an e-mail address. */
    caller: textLine(100).optional(),
    tool: textLine(100).optional(),
    outcome: oneOf(CALL_OUTCOMES).optional(),
    customer_id: rowId.optional(),
    ...dateRange,
  })
  .refine(isInOrder, WRONG_ORDER);

export type CallFilters = z.infer<typeof callFilters>;
