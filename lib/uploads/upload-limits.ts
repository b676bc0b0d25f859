/** Path that receives files. It is not below /admin, because `proxy.ts` copies and truncates request bodies there. */
export const UPLOAD_PATH = '/api/uploads';

/** Maximum size of an uploaded file: 200 MB. Larger files are imported by command. */
export const MAX_UPLOAD_BYTES = 200_000_000;

/** Maximum number of uploaded files that are stored at the same time. */
export const MAX_UPLOADS = 10;

/** Milliseconds after which an uploaded file is deleted. */
export const UPLOAD_KEPT_MS = 24 * 3_600_000;
