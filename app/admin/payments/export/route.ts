import { redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { toCalendarDate } from '@/lib/dates';
import { methodNotAllowed } from '@/lib/http/method-not-allowed';
import { paymentsCsv } from '@/lib/payments/payments-csv';
import { staffFilters } from '@/lib/payments/staff-filters';
import { getRuntime } from '@/lib/runtime';
import { toParams } from '../../../_components/search-params';
import { parseFilters } from '../../_components/parse-filters';
import { PATH } from '../path';

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD, OPTIONS');

/** The filtered list as a file, read as fast as it is taken. */
export async function GET(request: Request): Promise<Response> {
  await requireStaff();
  const { search, searchParams } = new URL(request.url);
  const { filters } = parseFilters(staffFilters, toParams(Object.fromEntries(searchParams)));
  if (!filters) redirect(PATH + search); // the list says what is wrong
  const { db, env, now } = await getRuntime();
  return new Response(toStream(paymentsCsv(db, filters)), {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="payments-${toCalendarDate(now(), env.timeZone)}.csv"`,
      'Cache-Control': 'no-store',
    },
  });
}

/** Asks for a piece when the last one has gone out; an error breaks the response off. */
function toStream(pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
