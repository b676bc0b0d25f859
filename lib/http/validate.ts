import { z } from 'zod';
import { AppError, type FieldError } from '../errors';
import { carriedName } from '../lost-parameter';

// A body of a megabyte may hold a hundred thousand unknown fields, or one with a name of that size.
const MAX_ERRORS = 100;
const MAX_FIELD = 100;

/**
 * @throws AppError validation_failed with every field that is wrong, up to 100 of them
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  what: string,
): z.infer<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new AppError(
    'validation_failed',
    `The ${what} is not valid.`,
    parsed.error.issues.flatMap(toFieldErrors).slice(0, MAX_ERRORS),
  );
}

/**
 * The parameters of a query string as a schema wants them: digits become numbers where it asks for one.
 *
 * @throws AppError validation_failed for unknown, repeated or wrong parameters
 */
export function validateQuery<Schema extends z.ZodObject>(
  schema: Schema,
  params: URLSearchParams,
): z.infer<Schema> {
  const repeated = [...new Set(params.keys())].filter((name) => params.getAll(name).length > 1);
  if (repeated.length > 0) {
    const errors = repeated.map((name) => ({ field: carriedName(name), message: 'must be given once' }));
    throw new AppError('validation_failed', 'The query is not valid.', errors);
  }
  const input = Object.fromEntries(
    [...params].map(([name, value]) => {
      const isNumber = isNumberField(schema.shape[name]) && /^-?\d{1,15}$/.test(value);
      return [carriedName(name), isNumber ? Number(value) : value];
    }),
  );
  return validate(schema, input, 'query');
}

function isNumberField(field: unknown): boolean {
  if (field instanceof z.ZodOptional) return isNumberField(field.unwrap());
  return field instanceof z.ZodNumber;
}

function toFieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: key.slice(0, MAX_FIELD), message: 'is not known' }));
  }
  const missing = issue.code === 'invalid_type' && issue.input === undefined && issue.path.length > 0;
  return [{ field: issue.path.join('.'), message: missing ? 'is required' : issue.message }];
}
