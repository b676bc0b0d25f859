import { notFound } from 'next/navigation';
import { AppError } from '@/lib/errors';

/** A record, or the not-found page where the domain says that there is none. */
export async function orNotFound<T>(record: Promise<T>): Promise<T> {
  try {
    return await record;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') notFound();
    throw error;
  }
}
