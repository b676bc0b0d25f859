import type { AppError } from '@/lib/errors';
import { formatMessage } from '../../../_components/format';

/** Of each wrong field its sentence; of '' what concerns no field that was typed. */
export function toProblems({ fields, message }: AppError, typed: object): Record<string, string> {
  if (fields.length === 0) return { '': message };
  const problems: Record<string, string> = {};
  for (const { field, message } of fields) problems[field in typed ? field : ''] ??= formatMessage(message);
  return problems;
}

/** What an error says of the first field that is wrong, else of all. */
export function problemOf({ fields: [wrong], message }: AppError): string {
  return wrong ? formatMessage(wrong.message) : message;
}
