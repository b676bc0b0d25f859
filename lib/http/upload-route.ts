import { z } from 'zod';
import { findStaff } from '../auth/find-staff';
import { MAX_STATEMENT_BYTES } from '../bank/statement';
import { uploadStatement } from '../bank/upload';
import { AppError } from '../errors';
import { IMPORT_NAMES } from '../imports/kinds';
import { staffWriter } from '../payments/typed-payment';
import type { Runtime } from '../runtime';
import { addUpload, requireUploadSize } from '../uploads/upload-store';
import { answerWith, readBody, uncachedJson } from './messages';
import { validateQuery } from './route';
import { isOwnOrigin } from './sign-in-route';

const uploadQuery = z.strictObject({
  kind: z.enum(IMPORT_NAMES, `must be one of ${IMPORT_NAMES.join(', ')}`),
  name: z.string().max(1000),
});

const statementQuery = z.strictObject({
  kind: z.literal('bank_statement'),
  name: z.string().max(1000),
  account: z.string().max(100).optional(),
});

/**
 * Receives a file as the request body. An admin can upload a file to import. Any member of staff can upload a bank
 * statement. Its new entries are stored immediately, and rules book the credits that surely pay invoices. Other callers
 * are refused before the body is read.
 */
export function answerUpload(request: Request): Promise<Response> {
  return answerWith(async (runtime) => {
    const staff = await requireUploader(runtime, request);
    const { searchParams } = new URL(request.url);
    const body = request.body as unknown as AsyncIterable<Uint8Array> | null;
    if (searchParams.get('kind') === 'bank_statement') {
      const { name, account } = validateQuery(statementQuery, searchParams);
      const bytes = Buffer.from(await readBody({ body }, MAX_STATEMENT_BYTES, TOO_LARGE));
      const file = { name, account, bytes };
      return uncachedJson(await uploadStatement(runtime.db, file, staffWriter(runtime, staff)), 201);
    }
    requireImporter(runtime, staff);
    requireUploadSize(Number(request.headers.get('content-length') ?? 0));
    const { kind, name } = validateQuery(uploadQuery, searchParams);
    const { id } = await addUpload(runtime, { kind, name, uploaded_by: staff.email }, body ?? noBytes());
    return uncachedJson({ id }, 201);
  });
}

const TOO_LARGE = `Bank statements can have up to ${MAX_STATEMENT_BYTES / 1e6} MB: export a shorter period.`;

async function* noBytes(): AsyncGenerator<Uint8Array> {}

/** Requires a member of staff who uploads from our own pages. */
async function requireUploader(runtime: Runtime, request: Request) {
  if (!isOwnOrigin(request, runtime.env.publicUrl)) {
    throw new AppError('forbidden', 'Files can be uploaded only from our own pages.');
  }
  const staff = await findStaff(runtime, request.headers);
  if (!staff)
    throw new AppError('unauthenticated', 'You are not signed in: sign in, then upload the file again.');
  return staff;
}

function requireImporter(runtime: Runtime, { role }: Awaited<ReturnType<typeof requireUploader>>): void {
  if (role !== 'admin') throw new AppError('forbidden', 'Only admins can import files.');
  if (runtime.env.vercel)
    throw new AppError('not_found', 'This server cannot import uploaded files: use npm run import.');
}
