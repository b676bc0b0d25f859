import { revalidatePath } from 'next/cache';
import { notFound, redirect } from 'next/navigation';
import { z } from 'zod';
import { formatField, formatMessage } from '@/app/_components/format';
import { type Actor, staffActor } from '@/lib/audit/audit-log';
import { requireAdmin, requireSession, requireSessionFor } from '@/lib/auth/staff-session';
import { AppError, type ErrorCode } from '@/lib/errors';
import { getRuntime, type Runtime } from '@/lib/runtime';

/** Session check of each role. `password` and `two_factor` also admit staff who still have to complete that step. */
const ENTRANCES = {
  staff: requireSession,
  admin: async () => ({ staff: await requireAdmin() }),
  password: () => requireSessionFor('password'),
  two_factor: () => requireSessionFor('two_factor'),
};
type Role = keyof typeof ENTRANCES;

/**
 * Context of an action: the caller as a member of staff and as the audit log's actor, the rest of the session unless
 * the role is `admin`, and the runtime.
 */
type Call<R extends Role> = Awaited<ReturnType<(typeof ENTRANCES)[R]>> & { runtime: Runtime; actor: Actor };

/** An `AppError` thrown by `run`, with its texts for the form. */
interface Refusal {
  error: AppError;
  code: ErrorCode;
  /** Message of the first invalid field, or the error's own message. For forms that show a single message. */
  problem: string;
  /** Error message of each invalid field. The key '' holds the message for the form as a whole. */
  problems: Record<string, string>;
}

type Inputs = readonly z.ZodType[];
type SentArguments<I extends Inputs> = { -readonly [N in keyof I]: z.input<I[N]> };
type Bound<I extends Inputs> = { -readonly [N in keyof I]: z.output<I[N]> };

interface Declaration<R extends Role, I extends Inputs, Args extends unknown[], Result, Done, Refused> {
  role: R;
  /** Schemas of the arguments before the form. An invalid argument shows the not-found page. */
  input: readonly [...I];
  /** Performs the action. Receives the call, the parsed arguments and, for a form, its values and the form itself. */
  run(call: Call<R>, ...args: Args): Promise<Result>;
  /**
   * Called after success. If it returns a URL, the action redirects there and reloads all staff pages. Any other
   * value becomes the action's result. In that case, `done` must call `refreshPages` itself if staff pages show data
   * that has changed.
   */
  done(result: Result, ...args: Args): Done | Promise<Done>;
  /** Called after an `AppError`. Returns a URL or a result, as `done` does. If absent, the error is thrown. */
  refused?(refusal: Refusal & Call<R>, ...args: Args): Refused | Promise<Refused>;
}

/**
 * Creates a server action for the staff pages. The action checks the session, parses every argument, calls `run`, and
 * then redirects or returns a result. Errors that `refused` does not handle are thrown.
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
): (...sent: SentArguments<I>) => Promise<Exclude<Done | Refused, string>> {
  return (...sent: unknown[]) => enter(declaration, sent, (bound) => bound);
}

/**
 * Creates a server action for a form. The action works both with `useActionState` and as a plain form action. The form
 * is the last argument. The previous state of `useActionState` is ignored.
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
    /** Fields to read: names of text fields, or a kind for each name. `run` receives the values and the form itself. */
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

/** An action that always redirects is a plain form action, so React does not pass it a previous state. */
type FormAction<I extends Inputs, Answer> = [Answer] extends [never]
  ? (...sent: [...SentArguments<I>, form: FormData]) => Promise<never>
  : (...sent: [...SentArguments<I>, before: unknown, form: FormData]) => Promise<Answer>;

const READ = {
  text: (form: FormData, name: string) => String(form.get(name) ?? ''),
  /** Reads all values of a repeated field. */
  texts: (form: FormData, name: string) => form.getAll(name).map(String),
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
    return redirectOrReturn(await refused(refusal, ...args));
  }
  return redirectOrReturn(await done(result, ...args));
}

function parseSent<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const { success, data } = schema.safeParse(value);
  return success ? data : notFound();
}

function redirectOrReturn<Target>(target: Target): Exclude<Target, string> {
  return typeof target === 'string' ? leaveFor(target) : (target as Exclude<Target, string>);
}

/** Returns all text fields of a form, for a form whose field names depend on its record. */
export const textsOf = (form: FormData): Record<string, string> =>
  Object.fromEntries(
    [...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );

/**
 * Maps an error to the message of each invalid field of a form. The key '' holds the message for the form as a whole:
 * the first message about a field that the form lacks, or the error's own message if no field is invalid.
 */
export function toProblems({ fields, message }: AppError, typed: object): Record<string, string> {
  if (fields.length === 0) return { '': message };
  const problems: Record<string, string> = {};
  for (const { field, message } of fields) problems[field in typed ? field : ''] ??= formatMessage(message);
  return problems;
}

/** Returns the message of the first invalid field, or the error's own message if no field is invalid. */
export function problemOf({ fields: [wrong], message }: AppError): string {
  return wrong ? formatMessage(wrong.message) : message;
}

/** Returns whether an action was refused because the page showed an old version of the record. */
export const isOutdated = (code: ErrorCode) => code === 'precondition_failed' || code === 'not_found';

/**
 * Returns the sentences that a confirmation dialog shows after its action was refused. They name the fields, because
 * the dialog does not show them. If the page is outdated, returns the URL that shows the record's page again.
 */
export function refuseStep({ error, code }: Pick<Refusal, 'error' | 'code'>, page: string) {
  if (isOutdated(code)) return `${page}?notice=${code}`;
  const sentences = error.fields.map(({ field, message }) =>
    field ? `${formatField(field)}: ${message}.` : formatMessage(message),
  );
  return { problem: sentences.join(' ') || error.message };
}

/** Ends an action. Invalidates all staff pages and redirects the browser. */
export function leaveFor(address: string): never {
  refreshPages();
  redirect(address);
}

/** Makes the browser reload the data of all staff pages, for an action that does not redirect. */
export function refreshPages(): void {
  revalidatePath('/admin', 'layout');
}

/** Returns the form state after a secret was created. The page shows the secret once, in place of the form. */
export function showOnce<Secret>(secret: Secret) {
  refreshPages();
  return { typed: {}, problems: {}, secret };
}
