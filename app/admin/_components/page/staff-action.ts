import { revalidatePath } from 'next/cache';
import { notFound, redirect } from 'next/navigation';
import { z } from 'zod';
import type { Actor } from '@/lib/audit/audit-log';
import { requireAdmin, requireSession, requireSessionFor, staffActor } from '@/lib/auth/staff-session';
import { AppError, type ErrorCode } from '@/lib/errors';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { formatMessage } from '../../../_components/format';

/** Who may call an action. The last two also let in a person whose only due step is this one. */
const ENTRANCES = {
  staff: requireSession,
  admin: async () => ({ staff: await requireAdmin() }),
  password: () => requireSessionFor('password'),
  two_factor: () => requireSessionFor('two_factor'),
};
type Role = keyof typeof ENTRANCES;

/** What an action works with: its caller, as the session and as the audit log's actor, and the runtime. */
type Call<R extends Role> = Awaited<ReturnType<(typeof ENTRANCES)[R]>> & { runtime: Runtime; actor: Actor };

/** An `AppError` of `run`, also as texts for the form. */
interface Refusal {
  error: AppError;
  code: ErrorCode;
  /** The sentence for a form with a single field. */
  problem: string;
  /** The sentence for each wrong field; at '' for what concerns no field of the form. */
  problems: Record<string, string>;
}

type Inputs = readonly z.ZodType[];
type Sent<I extends Inputs> = { -readonly [N in keyof I]: z.input<I[N]> };
type Bound<I extends Inputs> = { -readonly [N in keyof I]: z.output<I[N]> };

interface Declaration<R extends Role, I extends Inputs, Args extends unknown[], Result, Done, Refused> {
  role: R;
  /** The schemas of the arguments before the form, bound ones too. If one does not fit, the page is not found. */
  input: readonly [...I];
  /** Does the work. It gets the parsed arguments, and last what was typed into the form. */
  run(call: Call<R>, ...args: Args): Promise<Result>;
  /**
   * After success: the address to go on to, with all staff pages read anew; or the answer, if it is not a string. Call
   * `refreshPages` before an answer if the pages show what changed.
   */
  done(result: Result, ...args: Args): Done | Promise<Done>;
  /** After an `AppError`: an address or an answer likewise. If it is absent, the error is thrown. */
  refused?(refusal: Refusal & Call<R>, ...args: Args): Refused | Promise<Refused>;
}

/**
 * Makes a server action of the staff pages. It checks the session, parses every argument, runs the domain function, and
 * leads on to a page or answers its caller. Errors other than `AppError` are thrown.
 *
 * @example
 * export const finish = staffAction({
 *   role: 'staff',
 *   input: [rowId], // bound by the page: finish.bind(null, task.id)
 *   run: ({ runtime: { db, now }, staff }, id) => finishTask(db, id, { by: staff.email, now: now() }),
 *   done: () => '/admin/tasks?notice=done',
 *   refused: () => '/admin/tasks',
 * });
 */
export function staffAction<R extends Role, const I extends Inputs, Result, Done, Refused = never>(
  declaration: Declaration<R, I, Bound<I>, Result, Done, Refused>,
): (...sent: Sent<I>) => Promise<Exclude<Done | Refused, string>> {
  return (...sent: unknown[]) => enter(declaration, sent, (bound) => bound);
}

/**
 * Declares an action of a form. The form is its last argument, after the bound ones and after the earlier answer of
 * `useActionState`, which is ignored.
 *
 * @example
 * export const addNote = staffFormAction({
 *   role: 'staff',
 *   input: [rowId],
 *   form: ['text'],
 *   run: ({ runtime, staff }, id, { text }) =>
 *     addCustomerNote(runtime.db, id, text, staffRecordWriter(runtime, staff)),
 *   done: (_note, id) => `/admin/customers/${id}?notice=noted`,
 *   refused: ({ problems }, _id, typed) => ({ typed, problems }),
 * });
 */
export function staffFormAction<
  R extends Role,
  const I extends Inputs,
  const F extends Fields,
  Result,
  Done,
  Refused = never,
>(
  declaration: Declaration<R, I, [...Bound<I>, typed: Typed<F>, form: FormData], Result, Done, Refused> & {
    /** The fields to read: the names of texts, or a kind for each name. The form itself comes after what was read. */
    form: F;
  },
): FormAction<I, Exclude<Done | Refused, string>> {
  const action = (...sent: unknown[]) =>
    enter(declaration, sent, (bound) => {
      const form = parseSent(z.instanceof(FormData), sent.at(-1));
      return [...bound, readFields(declaration.form, form), form];
    });
  return action as unknown as FormAction<I, Exclude<Done | Refused, string>>;
}

/** A form without an answer has no earlier answer either. */
type FormAction<I extends Inputs, Answer> = [Answer] extends [never]
  ? (...sent: [...Sent<I>, form: FormData]) => Promise<never>
  : (...sent: [...Sent<I>, before: unknown, form: FormData]) => Promise<Answer>;

const READ = {
  text: (form: FormData, name: string) => String(form.get(name) ?? ''),
  /** All texts of one name. */
  texts: (form: FormData, name: string) => form.getAll(name).map(String),
  /** Whether a check box is ticked. */
  flag: (form: FormData, name: string) => form.get(name) === 'on',
};
type Kind = keyof typeof READ;
type Fields = readonly string[] | Record<string, Kind>;
type Typed<F> = F extends readonly (infer Name extends string)[]
  ? Record<Name, string>
  : { -readonly [Name in keyof F]: F[Name] extends Kind ? ReturnType<(typeof READ)[F[Name]]> : never };

function readFields<F extends Fields>(fields: F, form: FormData): Typed<F> {
  const kinds: [string, Kind][] = isNames(fields)
    ? fields.map((name) => [name, 'text'])
    : Object.entries<Kind>(fields);
  return Object.fromEntries(kinds.map(([name, kind]) => [name, READ[kind](form, name)])) as Typed<F>;
}

const isNames = (fields: Fields): fields is readonly string[] => Array.isArray(fields);

async function enter<R extends Role, I extends Inputs, Args extends unknown[], Result, Done, Refused>(
  { role, input, run, done, refused }: Declaration<R, I, Args, Result, Done, Refused>,
  sent: unknown[],
  argsOf: (bound: Bound<I>) => Args,
): Promise<Exclude<Done | Refused, string>> {
  const caller = await ENTRANCES[role]();
  const args = argsOf(input.map((schema, at) => parseSent(schema, sent[at])) as Bound<I>);
  const runtime = await getRuntime();
  const call = { ...caller, runtime, actor: staffActor(caller.staff) } as Call<R>;
  let result: Result;
  try {
    result = await run(call, ...args);
  } catch (error) {
    if (!(error instanceof AppError && refused)) throw error;
    const problems = toProblems(error, Object(args[input.length]));
    const refusal = { ...call, error, code: error.code, problem: problemOf(error), problems };
    return leadOn(await refused(refusal, ...args));
  }
  return leadOn(await done(result, ...args));
}

function parseSent<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const { success, data } = schema.safeParse(value);
  return success ? data : notFound();
}

function leadOn<Target>(target: Target): Exclude<Target, string> {
  return typeof target === 'string' ? leaveFor(target) : (target as Exclude<Target, string>);
}

/** Maps an error to the sentence for each wrong field; '' holds what concerns no field that was typed. */
export function toProblems({ fields, message }: AppError, typed: object): Record<string, string> {
  if (fields.length === 0) return { '': message };
  const problems: Record<string, string> = {};
  for (const { field, message } of fields) problems[field in typed ? field : ''] ??= formatMessage(message);
  return problems;
}

/** The sentence about the first wrong field, or about the whole if no field is wrong. */
export function problemOf({ fields: [wrong], message }: AppError): string {
  return wrong ? formatMessage(wrong.message) : message;
}

/** Ends an action that wrote something: all staff pages are read anew, and the browser goes on to an address. */
export function leaveFor(address: string): never {
  refreshPages();
  redirect(address);
}

/** Has all staff pages read anew, after an action that answers where it was called. */
export function refreshPages(): void {
  revalidatePath('/admin', 'layout');
}

/** The answer of a form that made a secret: the page shows it once, in place of the form. */
export function showOnce<Secret>(secret: Secret) {
  refreshPages();
  return { typed: {}, problems: {}, secret };
}
