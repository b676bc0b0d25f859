/** Every error the product answers with, and its HTTP status. */
export const ERROR_STATUS = {
  malformed_json: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
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
  /** The body field or query parameter; empty where the whole is meant. */
  field: string;
  message: string;
}

/** An error whose text is ours and may be shown to whoever asked. Anything else stays in the log. */
export class AppError extends Error {
  override readonly name = 'AppError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly fields: FieldError[] = [],
    /** Seconds after which another try may succeed. */
    readonly retryAfter: number | undefined = code === 'unavailable' ? 5 : undefined,
  ) {
    super(message);
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** The 422 of a single field. */
export function invalidField(field: string, message: string): AppError {
  return new AppError('validation_failed', `${field}: ${message}`, [{ field, message }]);
}

/** The 507 of a write that found no room on the database's disk. */
export function diskFull(): AppError {
  return new AppError(
    'insufficient_storage',
    'The disk of the database is full, so nothing was saved. Try again once an administrator has freed some space.',
  );
}

/** Stops a command or the start of the server: each line is a sentence for the person who started it. */
export class StartError extends Error {
  override readonly name: string = 'StartError';

  constructor(readonly sentences: string[]) {
    super(sentences.join('\n'));
  }
}

/** The database is older than the code: nothing works until it is migrated, or another one is given. */
export class NotMigratedError extends StartError {
  override readonly name = 'NotMigratedError';

  constructor(sentence = 'The database of DATABASE_URL is not migrated: run npm run db:migrate first.') {
    super([sentence]);
  }
}

/** By name: the class of another bundle of Next's is another one. */
export function isNotMigrated(error: unknown): error is NotMigratedError {
  return error instanceof Error && error.name === 'NotMigratedError';
}
