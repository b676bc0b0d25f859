import { pgErrorCode } from '@/db/database';
import { invalidField } from '../errors';

const NUMERIC_VALUE_OUT_OF_RANGE = '22003';

/** What an invoice's payments add up to must fit where it is kept. */
export async function withAmountLimit<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (pgErrorCode(error) !== NUMERIC_VALUE_OUT_OF_RANGE) throw error;
    throw invalidField('amount', 'makes the payments of the invoice add up to more than can be kept');
  }
}
