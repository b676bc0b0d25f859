import { notFound } from 'next/navigation';
import { AppError } from '@/lib/errors';

/** A record, or the not-found page where the domain says that there is none. */
export async function orNotFound<T>(record: Promise<T>): Promise<T> {
  return (await orNull(record)) ?? notFound();
}

/** A record, or null where the domain says that there is none. */
export async function orNull<T>(record: Promise<T>): Promise<T | null> {
  try {
    return await record;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}
