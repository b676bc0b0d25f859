import { redirect } from 'next/navigation';
import type { z } from 'zod';
import { toParams } from '@/app/_components/search-params';
import { requireStaff } from '@/lib/auth/staff-session';
import { toCalendarDate } from '@/lib/dates';
import { methodNotAllowed } from '@/lib/http/messages';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { type ListDeclaration, parseFilters } from './list-declaration';

interface CsvFile {
  /** Without its ending. */
  name: string;
  pieces: AsyncGenerator<string>;
}

/** The handlers of an address that gives staff a file. */
export function csvRoute(open: (url: URL, runtime: Runtime, today: string) => CsvFile | Promise<CsvFile>) {
  const answer = async (request: Request): Promise<Response> => {
    await requireStaff();
    const runtime = await getRuntime();
    const today = toCalendarDate(runtime.now(), runtime.env.timeZone);
    return csvResponse(await open(new URL(request.url), runtime, today));
  };
  return { ...methodNotAllowed('GET, HEAD, OPTIONS'), GET: answer };
}

/** The same for a list: its file holds what matches the filters. If a filter is wrong, the list says so. */
export function exportRoute<Schema extends z.ZodObject, Row>({ source, path }: ListDeclaration<Schema, Row>) {
  return csvRoute(({ search, searchParams }, runtime, today) => {
    const { filters } = parseFilters(source.schema, toParams(Object.fromEntries(searchParams)));
    if (!filters || !source.csv) redirect(path + search);
    const name = `${path.slice(path.lastIndexOf('/') + 1)}-${today}`;
    return { name, pieces: source.csv(runtime.db, filters, runtime) };
  });
}

/** A file to download, made as fast as it is taken. */
export function csvResponse({ name, pieces }: CsvFile): Response {
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
