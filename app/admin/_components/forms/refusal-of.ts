import { AppError, type ErrorCode } from '@/lib/errors';

/** The code of what the domain says against a write; null where it was done. */
export async function refusalOf(write: Promise<unknown>): Promise<ErrorCode | null> {
  try {
    await write;
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}
