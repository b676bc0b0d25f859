import { pgErrorCode } from '@/db/database';
import { type AppError, invalidField } from '../errors';

const NUMERIC_VALUE_OUT_OF_RANGE = '22003';

/** What an invoice's payments add up to must fit where it is kept. */
export async function withAmountLimit<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    throw isOverLimit(error) ? overLimit() : error;
  }
}

export const isOverLimit = (error: unknown): boolean => pgErrorCode(error) === NUMERIC_VALUE_OUT_OF_RANGE;

export const overLimit = (): AppError =>
  invalidField('amount', 'makes the payments of the invoice add up to more than can be kept');
