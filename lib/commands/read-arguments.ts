import { type ParseArgsConfig, parseArgs } from 'node:util';
import { StartError } from '../errors';
import { inheritedEnv } from '../inherited-env';

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<T extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; allowPositionals: true; options: T }>
>;

/** Not an error: the user asked how a command is used. */
export class HelpAsked extends Error {
  constructor(readonly usage: string[]) {
    super(usage.join('\n'));
  }
}

/**
 * Reads the arguments of a command; `--help` works for every one.
 *
 * @param positionals how many arguments without a name it may have
 * @throws HelpAsked for `--help`, StartError with one sentence for what it does not know or what npm kept
 */
export function readArguments<T extends Options>(
  args: string[],
  { usage, options, positionals = 0 }: { usage: string[]; options?: T; positionals?: number },
): Parsed<T> {
  const all = { ...options, help: { type: 'boolean', short: 'h' } } as const;
  try {
    const parsed = parseArgs({ args, allowPositionals: true, options: all as unknown as T });
    if ((parsed.values as { help?: boolean }).help) throw new HelpAsked(usage);
    requireAll(Object.keys(options ?? {}), parsed.values);
    const [extra] = parsed.positionals.slice(positionals);
    if (extra !== undefined) throw new TypeError(`Unknown argument '${extra}'`);
    return parsed;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // What follows the first sentence is advice that fits few.
    const problem = error.message.split(/\.?(?: |\n)(?=To |Did |This )/)[0] ?? '';
    throw new StartError([`${problem.replace(/\.$/, '')}: --help shows what there is.`]);
  }
}

/** Without `--` before them npm takes options for its own, and the command would run as if they were not there. */
function requireAll(options: string[], given: object): void {
  const env = inheritedEnv();
  const name = env.npm_lifecycle_event;
  const kept = options.find(
    (option) => !(option in given) && env[`npm_config_${option.replaceAll('-', '_')}`],
  );
  if (name === undefined || kept === undefined) return;
  const script = name === 'start' ? 'npm start' : `npm run ${name}`;
  throw new StartError([`npm took --${kept} for an option of its own: write ${script} -- --${kept}.`]);
}
