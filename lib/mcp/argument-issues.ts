import type { z } from 'zod';
import type { WireSchema } from './wire-schema';

const SHOWN = 60;

/** One sentence an issue, each naming the argument, what it must be and what it was. */
export function describeIssues(issues: z.core.$ZodIssue[], schema: WireSchema): string {
  return issues.map((issue) => describeIssue(issue, schema)).join(' ');
}

function describeIssue(issue: z.core.$ZodIssue, schema: WireSchema): string {
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(schema.properties ?? {});
    const hint = known.length > 0 ? `It takes ${known.join(', ')}.` : 'It takes none.';
    return `Unknown argument ${issue.keys.map(show).join(', ')}. ${hint}`;
  }
  const name = issue.path.join('.');
  if (name === '') return issue.message;
  if (issue.code === 'invalid_type' && issue.input === undefined) return `${name} is required.`;
  return `${name} ${requirement(issue, schema.properties?.[name])}${got(issue)}.`;
}

function requirement(issue: z.core.$ZodIssue, property: unknown): string {
  const isBound = issue.code === 'too_small' || issue.code === 'too_big';
  const { minimum, maximum } = (property ?? {}) as { minimum?: unknown; maximum?: unknown };
  return isBound && minimum !== undefined && maximum !== undefined
    ? `must be ${minimum}..${maximum}`
    : issue.message;
}

function got(issue: z.core.$ZodIssue): string {
  // A rule about several arguments is given all of them.
  const isOfSeveral = issue.code === 'custom' && typeof issue.input === 'object';
  return issue.input === undefined || isOfSeveral ? '' : ` (got ${show(issue.input)})`;
}

function show(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  const text = JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
