/** Where the browser sends a file: not below /admin, since what passes `proxy.ts` is copied and cut off. */
export const UPLOAD_PATH = '/api/uploads';

/** 200 MB; what is larger is imported by command. */
export const MAX_UPLOAD_BYTES = 200_000_000;

/** Files that may wait at once. */
export const MAX_UPLOADS = 10;

/** How long a file is kept. */
export const UPLOAD_KEPT_MS = 24 * 3_600_000;
