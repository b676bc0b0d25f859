import { redirect } from 'next/navigation';
import type { z } from 'zod';
import { toRequestParams } from '@/app/_components/search-params';
import { currentStaff, requireStaff } from '@/lib/auth/staff-session';
import { toCalendarDate } from '@/lib/dates';
import { AppError, invalidField } from '@/lib/errors';
import { answerWith, methodNotAllowed } from '@/lib/http/messages';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { downloadName, type ListDeclaration, parseFilters } from './list-declaration';

/** A file for a download response. */
export interface DownloadedFile {
  /** File name with its extension. */
  name: string;
  /** Value of the `Content-Type` header. */
  type: string;
  pieces: AsyncGenerator<string | Uint8Array>;
}

/** Opens a file for a request. `today` is the calendar date in the configured time zone. */
export type OpenFile = (
  url: URL,
  runtime: Runtime,
  today: string,
) => DownloadedFile | Promise<DownloadedFile>;

/**
 * Creates the route handlers that send a file to staff.
 *
 * @param open returns the function that opens the file for the route's parameters
 */
export function fileRoute<Params>(open: (params: Params) => OpenFile) {
  const answer = async (request: Request, { params }: { params: Promise<Params> }): Promise<Response> => {
    await requireStaff();
    const runtime = await getRuntime();
    const today = toCalendarDate(runtime.now(), runtime.env.timeZone);
    return fileResponse(await open(await params)(new URL(request.url), runtime, today));
  };
  return { ...methodNotAllowed('GET, HEAD, OPTIONS'), GET: answer };
}

/** Returns a CSV file for a download. @param name file name without the extension */
export const csvFile = (name: string, pieces: AsyncGenerator<string>): DownloadedFile => ({
  name: `${name}.csv`,
  type: 'text/csv; charset=utf-8; header=present',
  pieces,
});

/**
 * Returns the CSV download of a list, as an object whose key is the file's name in the URL. The file contains all
 * matching rows. An invalid filter redirects to the list.
 */
export function listFile<Schema extends z.ZodObject, Row>(list: ListDeclaration<Schema, Row>) {
  const { source, path, file = path.slice(path.lastIndexOf('/') + 1) } = list;
  const open: OpenFile = ({ search, searchParams }, runtime, today) => {
    const { filters } = parseFilters(source.schema, toRequestParams(searchParams));
    if (!filters || !source.csv) redirect(path + search);
    return csvFile(`${file}-${today}`, source.csv(runtime.db, filters, runtime));
  };
  return { [downloadName(path)]: open };
}

/** Creates a download response. The file is generated only as fast as the client reads. */
export function fileResponse({ name, type, pieces }: DownloadedFile): Response {
  return new Response(toStream(pieces), {
    headers: {
      'Content-Type': type,
      'Content-Disposition': `attachment; filename="${name.replace(UNQUOTABLE, '_')}"${inUnicode(name)}`,
      'Cache-Control': 'no-store',
    },
  });
}

/** Matches characters that a quoted file name must not contain, such as non-ASCII characters and double quotes. */
const UNQUOTABLE = /[^ !#-[\]-~]/g;

/** Returns the `filename*` parameter of RFC 6266 if the quoted name lacks characters of the name, otherwise ''. */
function inUnicode(name: string): string {
  if (name.search(UNQUOTABLE) < 0) return '';
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `; filename*=UTF-8''${encoded}`;
}

/** Converts pieces to a stream that requests a piece only when the client reads. An error aborts the response. */
function toStream(pieces: AsyncGenerator<string | Uint8Array>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * Creates a route that pages request while a person types.
 *
 * @param answer returns the JSON body for the typed text
 */
export function typingRoute(
  schema: z.ZodType<string>,
  answer: (text: string, runtime: Runtime) => Promise<unknown>,
) {
  const respond = (request: Request): Promise<Response> =>
    answerWith(async (runtime) => {
      if (!(await currentStaff())) throw new AppError('unauthenticated', 'You are not signed in.');
      const parsed = schema.safeParse(new URL(request.url).searchParams.get('q') ?? '');
      if (!parsed.success)
        throw invalidField('q', parsed.error.issues[0]?.message ?? 'is not a valid search');
      const answered = await answer(parsed.data, runtime);
      return Response.json(answered, { headers: { 'Cache-Control': 'no-store' } });
    });
  return { ...methodNotAllowed('GET, HEAD, OPTIONS'), GET: respond };
}
