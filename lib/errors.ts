/** Every error code of the service, with its HTTP status. */
export const ERROR_STATUS = {
  malformed_json: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  too_many_requests: 429,
  internal: 500,
  unavailable: 503,
  insufficient_storage: 507,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

export interface FieldError {
  /** Name of the body field or query parameter. Empty if the error is about the whole request. */
  field: string;
  message: string;
}

/** Converts zod's issues to field errors. */
export const toFieldErrors = (issues: { path: PropertyKey[]; message: string }[]): FieldError[] =>
  issues.map(({ path, message }) => ({ field: path.join('.'), message }));

/**
 * An error class whose `instanceof` works across bundles. Next bundles pages, routes and instrumentation separately,
 * and each bundle has its own copy of the class. Objects shared by `perProcess` run functions of the bundle that
 * created them. So one bundle may have to recognize an error that another bundle threw.
 */
class OwnError extends Error {
  /** Names the class in every bundle. Each subclass declares its own name, because a build may rename classes. */
  static readonly kind: string = 'OwnError';

  static override [Symbol.hasInstance](error: unknown): boolean {
    if (!(typeof error === 'object' && error !== null)) return false;
    // biome-ignore lint/complexity/noThisInStatic: `this` is the class on the right of `instanceof`
    const { kind } = this;
    for (
      let made: unknown = error.constructor;
      typeof made === 'function';
      made = Object.getPrototypeOf(made)
    ) {
      if (Object.hasOwn(made, 'kind') && 'kind' in made && made.kind === kind) return true;
    }
    return false;
  }
}

/** An error with a message that was written for clients. Any other error appears only in the log. */
export class AppError extends OwnError {
  static override readonly kind = 'AppError';
  override readonly name = 'AppError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly fields: FieldError[] = [],
    /** Seconds after which a retry may succeed. */
    readonly retryAfter: number | undefined = code === 'unavailable' ? 5 : undefined,
  ) {
    super(message);
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** Returns the 422 error for a single field. */
export function invalidField(field: string, message: string): AppError {
  return new AppError('validation_failed', `${field}: ${message}`, [{ field, message }]);
}

/** Returns the 507 error for a write that failed because the database's disk is full. */
export function diskFull(): AppError {
  return new AppError(
    'insufficient_storage',
    'The disk of the database is full, so nothing was saved. Try again once an administrator has freed some space.',
  );
}

/** Error that stops a command or the start of the server. Each sentence is a line for the person who started it. */
export class StartError extends OwnError {
  static override readonly kind: string = 'StartError';
  override readonly name: string = 'StartError';

  constructor(readonly sentences: string[]) {
    super(sentences.join('\n'));
  }
}

/** Error for a database without this version's schema. Usually the database is older and must be migrated. */
export class NotMigratedError extends StartError {
  static override readonly kind = 'NotMigratedError';
  override readonly name = 'NotMigratedError';

  constructor(sentence = 'The database of DATABASE_URL is not migrated: run npm run db:migrate first.') {
    super([sentence]);
  }
}

const SENTENCES: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'cannot be opened: its permissions do not allow it',
  EPERM: 'cannot be opened: its permissions do not allow it',
  EROFS: 'cannot be written: the disk is read-only',
  ENOSPC: 'cannot be written: the disk is full',
  EDQUOT: 'cannot be written: the disk quota is used up',
  EEXIST: 'already exists',
  EFBIG: 'cannot be written: it would be too large',
  ENAMETOOLONG: 'has a name that is too long',
};

/** Converts a file system error to a StartError with the path and the problem. Returns any other error unchanged. */
export function fileProblem(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  return new StartError([`${path} ${SENTENCES[code] ?? `cannot be read or written (${code})`}.`]);
}

/** Runs work on a file. @throws StartError with the path and the problem for a file system error */
export async function withFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileProblem(error, path);
  }
}
