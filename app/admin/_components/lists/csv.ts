import { redirect } from 'next/navigation';
import type { z } from 'zod';
import { toParams } from '@/app/_components/search-params';
import { toCalendarDate } from '@/lib/dates';
import { getRuntime } from '@/lib/runtime';
import { type ListDeclaration, parseFilters } from './list-declaration';

/** The filtered list as a file; where a filter is wrong, the list says so. */
export async function csvOfList<Schema extends z.ZodObject, Row>(
  request: Request,
  { source, path }: ListDeclaration<Schema, Row>,
): Promise<Response> {
  const { search, searchParams } = new URL(request.url);
  const { filters } = parseFilters(source.schema, toParams(Object.fromEntries(searchParams)));
  if (!filters || !source.csv) redirect(path + search);
  const runtime = await getRuntime();
  const name = path.slice(path.lastIndexOf('/') + 1);
  const today = toCalendarDate(runtime.now(), runtime.env.timeZone);
  return csvResponse(`${name}-${today}`, source.csv(runtime.db, filters, runtime));
}

/**
 * A file to download, made as fast as it is taken.
 *
 * @param name without its ending
 */
export function csvResponse(name: string, pieces: AsyncGenerator<string>): Response {
  return new Response(toStream(pieces), {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="${name.replace(/[^ -~]/g, '_')}.csv"${inUnicode(name)}`,
      'Cache-Control': 'no-store',
    },
  });
}

/** The name once more where it needs letters that a header has not (RFC 6266). */
function inUnicode(name: string): string {
  if (/^[ -~]*$/.test(name)) return '';
  const encoded = encodeURIComponent(`${name}.csv`).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return `; filename*=UTF-8''${encoded}`;
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
