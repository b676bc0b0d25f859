import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { readArguments } from '../commands/read-arguments';
import { readEnv } from '../env';
import { StartError } from '../errors';
import { type HappenedAnswer, happenedAnswer } from '../stripe-local/control';
import { STATUSES } from '../stripe-local/happening';
import { EVENT_TYPES, type EventType } from '../stripe-local/happenings';
import { runCommand } from './run-command';

const USAGE = [
  'Usage: npm run stripe:event -- TYPE [--customer NUMBER] [--invoice NUMBER] [--status STATUS] [--silent]',
  'Makes something happen in the Stripe of the running demo, which tells the webhook about it.',
  '--silent: the webhook is not told, as if the delivery were lost.',
  `TYPE is one of: ${EVENT_TYPES.join(', ')}`,
  'STATUS, the first where there is none, is for',
  ...Object.entries(STATUSES).map(([type, statuses]) => `  ${type}: ${statuses.join(', ')}`),
];

const demoFile = z.object({ stripeLocalUrl: z.url(), stripeSecretKey: z.string() });
const NO_DEMO = 'No demo is running: start it with npm run demo.';

runCommand(async (args) => {
  const wanted = read(args);
  const answer = await ask(await readDemo(), wanted);
  print(answer, wanted.silent);
  if (!wanted.silent && answer.deliveries.some(({ status }) => status !== 200)) process.exitCode = 1;
});

interface Wanted {
  type: EventType;
  customer_number?: string;
  invoice_number?: string;
  status?: string;
  silent: boolean;
}

function read(args: string[]): Wanted {
  const text = { type: 'string' } as const;
  const { values, positionals } = readArguments(args, {
    usage: USAGE,
    options: { customer: text, invoice: text, status: text, silent: { type: 'boolean' } },
    positionals: 1,
  });
  const [name] = positionals;
  if (name === undefined) throw new StartError(USAGE);
  const type = EVENT_TYPES.find((known) => known === name);
  if (!type) throw new StartError([`${name} is not one of the event types: ${EVENT_TYPES.join(', ')}.`]);
  return {
    type,
    ...(values.customer !== undefined && { customer_number: values.customer }),
    ...(values.invoice !== undefined && { invoice_number: values.invoice }),
    ...(values.status !== undefined && { status: values.status }),
    silent: values.silent ?? false,
  };
}

async function readDemo(): Promise<z.infer<typeof demoFile>> {
  const path = join(readEnv(['DATA_DIR']).dataDir, 'demo.json');
  try {
    return demoFile.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    throw new StartError([NO_DEMO]);
  }
}

async function ask(demo: z.infer<typeof demoFile>, wanted: Wanted): Promise<HappenedAnswer> {
  const response = await fetch(`${demo.stripeLocalUrl}/_local/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demo.stripeSecretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(wanted),
  }).catch(() => {
    throw new StartError([NO_DEMO]);
  });
  const body: unknown = await response.json().catch(() => null);
  if (response.ok) return happenedAnswer.parse(body);
  const refused = z.object({ error: z.object({ message: z.string() }) }).safeParse(body);
  throw new StartError([refused.data?.error.message ?? `The local Stripe answered ${response.status}.`]);
}

function print({ action, objects, deliveries }: HappenedAnswer, silent: boolean): void {
  console.log(action);
  for (const { object, id, number } of objects)
    console.log(`  ${object} ${id}${number ? ` (${number})` : ''}`);
  console.log(silent ? 'Not delivered:' : 'Delivered:');
  for (const { type, event_id, status, outcome, body } of deliveries) {
    const answer = status === null ? reasonOf(body, silent) : `${status} ${outcome ?? JSON.stringify(body)}`;
    console.log(`  ${type.padEnd(32)} ${event_id}  ${answer}`.trimEnd());
  }
}

function reasonOf(body: unknown, silent: boolean): string {
  if (silent) return '';
  return typeof body === 'string' ? `no answer: ${body}` : 'no webhook';
}
