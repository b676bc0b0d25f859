import { notFound } from 'next/navigation';
import { z } from 'zod';
import { rowId } from '@/lib/fields';

const sent = z.object({ id: rowId, version: z.string().max(100) });

/** A payment and its tag, as a browser sends them back; anything else is not found. */
export const toSent = (id: unknown, version: unknown) => sent.safeParse({ id, version }).data ?? notFound();
