import { z } from 'zod';
import { findStaff } from '../auth/find-staff';
import { AppError } from '../errors';
import { IMPORT_NAMES } from '../imports/kinds';
import type { Runtime } from '../runtime';
import { addUpload, requireUploadSize } from '../uploads/upload-store';
import { answerWith, uncachedJson } from './messages';
import { validateQuery } from './route';
import { isOwnOrigin } from './sign-in-route';

const uploadQuery = z.strictObject({
  kind: z.enum(IMPORT_NAMES, `must be one of ${IMPORT_NAMES.join(', ')}`),
  name: z.string().max(1000),
});

/** Receives a file from an admin as the request body. Other callers are refused before the body is read. */
export function answerUpload(request: Request): Promise<Response> {
  return answerWith(async (runtime) => {
    const uploaded_by = await requireUploader(runtime, request);
    requireUploadSize(Number(request.headers.get('content-length') ?? 0));
    const { kind, name } = validateQuery(uploadQuery, new URL(request.url).searchParams);
    const body = (request.body ?? []) as unknown as AsyncIterable<Uint8Array>;
    const { id } = await addUpload(runtime, { kind, name, uploaded_by }, body);
    return uncachedJson({ id }, 201);
  });
}

/** Requires an admin who uploads from our own pages. @returns the admin's email address */
async function requireUploader(runtime: Runtime, request: Request): Promise<string> {
  if (!isOwnOrigin(request, runtime.env.publicUrl)) {
    throw new AppError('forbidden', 'Files can be uploaded only from our own pages.');
  }
  const staff = await findStaff(runtime, request.headers);
  if (!staff)
    throw new AppError('unauthenticated', 'Nobody is signed in: sign in, and upload the file again.');
  if (staff.role !== 'admin') throw new AppError('forbidden', 'Files are imported by admins only.');
  if (runtime.env.vercel)
    throw new AppError('not_found', 'This server cannot import uploaded files: use npm run import.');
  return staff.email;
}
