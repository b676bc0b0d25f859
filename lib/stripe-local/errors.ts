/** An answer that is an error, in Stripe's words. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    message: string,
    readonly code?: string,
    readonly param?: string,
    readonly type = 'invalid_request_error',
  ) {
    super(message);
  }

  body(): { error: Record<string, string> } {
    return {
      error: {
        ...(this.code && { code: this.code, doc_url: docUrl(this.code) }),
        message: this.message,
        ...(this.param && { param: this.param }),
        type: this.type,
      },
    };
  }
}

/** The object of the path itself does not exist. */
export function notFound(noun: string, id: string): ApiError {
  return new ApiError(404, `No such ${noun}: '${id}'`, 'resource_missing', 'id');
}

/** A parameter names an object that does not exist. */
export function missing(noun: string, id: string, param: string): ApiError {
  return new ApiError(400, `No such ${noun}: '${id}'`, 'resource_missing', param);
}

export function missingParameter(name: string): ApiError {
  return new ApiError(400, `Missing required param: ${name}.`, 'parameter_missing', name);
}

export function unknownParameters(names: string[]): ApiError {
  const plural = names.length > 1 ? 's' : '';
  return new ApiError(
    400,
    `Received unknown parameter${plural}: ${names.join(', ')}`,
    'parameter_unknown',
    names[0],
  );
}

export function invalidInteger(param: string, value: string): ApiError {
  return new ApiError(400, `Invalid integer: ${value}`, 'parameter_invalid_integer', param);
}

function docUrl(code: string): string {
  return `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}`;
}
