import { notFound } from 'next/navigation';
import { AppError } from '@/lib/errors';

/** Returns a record, or shows the not-found page if the domain does not find it. */
export async function orNotFound<T>(record: Promise<T>): Promise<T> {
  return (await orNull(record)) ?? notFound();
}

/** Returns a record, or null if the domain does not find it. */
export async function orNull<T>(record: Promise<T>): Promise<T | null> {
  try {
    return await record;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}
