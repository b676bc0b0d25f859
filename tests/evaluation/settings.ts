import { z } from 'zod';
import { StartError } from '@/lib/errors';
import { type Model, PROTOCOLS } from './ask-model';

const variables = z.object({
  EVAL_BASE_URL: z.url(),
  EVAL_API_KEY: z.string().min(1),
  EVAL_MODEL: z.string().min(1),
  EVAL_PROTOCOL: z.enum(Object.keys(PROTOCOLS) as (keyof typeof PROTOCOLS)[]),
  EVAL_DATE: z.iso.date().optional(),
});

export const NEEDED = [
  'npm run eval needs EVAL_BASE_URL (such as https://api.openai.com/v1), EVAL_API_KEY, EVAL_MODEL and EVAL_PROTOCOL (openai or anthropic).',
];

/**
 * Reads the model to ask from the environment variables, and the date for the document if it is set.
 *
 * @throws StartError that names the missing and wrong variables
 */
export function readSettings(env: Record<string, string | undefined>): {
  model: Model;
  date: string | undefined;
} {
  const { data, error } = variables.safeParse(env);
  if (!data) {
    const names = [...new Set(error.issues.map(({ path }) => String(path[0])))];
    throw new StartError([...NEEDED, `Missing or wrong: ${names.join(', ')}.`]);
  }
  const { EVAL_BASE_URL: baseUrl, EVAL_API_KEY: apiKey, EVAL_MODEL: name, EVAL_PROTOCOL: protocol } = data;
  return { model: { baseUrl, apiKey, name, protocol }, date: data.EVAL_DATE };
}
