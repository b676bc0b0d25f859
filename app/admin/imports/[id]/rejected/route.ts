import { notFound } from 'next/navigation';
import { requireAdmin } from '@/lib/auth/staff-session';
import { methodNotAllowed } from '@/lib/http/messages';
import { getRuntime } from '@/lib/runtime';
import { openRejected } from '@/lib/uploads/import-run';
import { csvFile, fileResponse } from '../../../_components/lists/csv';

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD, OPTIONS');

/** Downloads the rejected rows of an uploaded file, to be corrected and imported again. */
export async function GET(_: Request, { params }: { params: Promise<{ id: string }> }): Promise<Response> {
  await requireAdmin();
  const { env } = await getRuntime();
  const rejected = (await openRejected(env.dataDir, (await params).id)) ?? notFound();
  return fileResponse(csvFile(rejected.name.replace(/\.csv$/, ''), rejected.text()));
}
