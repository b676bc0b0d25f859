import { AppError } from '@/lib/errors';
import { readBody } from '../read-body';

const MAX_BYTES = 16_384;

/** @returns the fields of a form, of which each is there once; text: what is wrong with it */
export async function readForm(request: Request): Promise<URLSearchParams | string> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return 'Send a form: application/x-www-form-urlencoded.';
  try {
    const form = new URLSearchParams(Buffer.from(await readBody(request, MAX_BYTES)).toString());
    const twice = [...form.keys()].find((name) => name !== 'resource' && form.getAll(name).length > 1);
    if (twice !== undefined) return `${twice.slice(0, 40)} is there more than once.`;
    return hasNul(form) ? 'A value contains a NUL character.' : form;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

/** PostgreSQL refuses statements with this character, which no right request has. */
export function hasNul(given: URLSearchParams): boolean {
  return [...given.values()].some((value) => value.includes('\0'));
}
