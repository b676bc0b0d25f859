import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { FLAG, readArguments, TEXT } from '../../commands/command';
import { StartError } from '../../errors';
import { type TriggerAnswer, triggerAnswer } from '../../stripe-local/control';
import { EVENT_TYPES, STATUSES } from '../../stripe-local/happenings';

const USAGE = [
  'Usage: npm run stripe:event -- TYPE [--customer NUMBER] [--invoice NUMBER] [--status STATUS] [--silent]',
  'Makes something happen in the local Stripe of the running demo, which then calls the webhook.',
  '--silent: does not call the webhook, as if the delivery were lost.',
  `TYPE is one of: ${EVENT_TYPES.join(', ')}`,
  'STATUS defaults to the first one listed for TYPE:',
  ...Object.entries(STATUSES).map(([type, statuses]) => `  ${type}: ${statuses.join(', ')}`),
];

const demoFile = z.object({ stripeLocalUrl: z.url(), stripeSecretKey: z.string() });
const NO_DEMO = 'No demo is running: start it with npm run demo.';

/**
 * Triggers an event in the local Stripe account of the demo running on a data directory, and prints the result.
 *
 * @returns false if the webhook did not accept a delivery
 * @throws StartError if no demo is running or the event cannot happen
 */
export async function stripeEvent(
  args: string[],
  dataDir: string,
  print: (line: string) => void,
): Promise<boolean> {
  const wanted = read(args);
  const answer = await ask(await readDemo(dataDir), wanted);
  for (const line of linesOf(answer, wanted.silent)) print(line);
  return wanted.silent || answer.deliveries.every(({ status }) => status === 200);
}

function read(args: string[]) {
  const options = { customer: TEXT, invoice: TEXT, status: TEXT, silent: FLAG };
  const { values, positionals } = readArguments(args, { usage: USAGE, options, positionals: 1 });
  const [name] = positionals;
  if (name === undefined) throw new StartError(USAGE);
  const type = EVENT_TYPES.find((known) => known === name);
  if (!type) throw new StartError([`${name} is not one of the event types: ${EVENT_TYPES.join(', ')}.`]);
  const { customer, invoice, status, silent = false } = values;
  return { type, customer_number: customer, invoice_number: invoice, status, silent };
}

async function readDemo(dataDir: string): Promise<z.infer<typeof demoFile>> {
  try {
    return demoFile.parse(JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8')));
  } catch {
    throw new StartError([NO_DEMO]);
  }
}

async function ask(demo: z.infer<typeof demoFile>, wanted: ReturnType<typeof read>): Promise<TriggerAnswer> {
  const response = await fetch(`${demo.stripeLocalUrl}/_local/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demo.stripeSecretKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(wanted),
  }).catch(() => {
    throw new StartError([NO_DEMO]);
  });
  const body: unknown = await response.json().catch(() => null);
  if (response.ok) return triggerAnswer.parse(body);
  const refused = z.object({ error: z.object({ message: z.string() }) }).safeParse(body);
  throw new StartError([refused.data?.error.message ?? `The local Stripe answered ${response.status}.`]);
}

function linesOf({ action, objects, deliveries }: TriggerAnswer, silent: boolean): string[] {
  return [
    action,
    ...objects.map(({ object, id, number }) => `  ${object} ${id}${number ? ` (${number})` : ''}`),
    silent ? 'Not delivered:' : 'Delivered:',
    ...deliveries.map(({ type, event_id, status, outcome, body }) => {
      const answer =
        status === null ? reasonOf(body, silent) : `${status} ${outcome ?? JSON.stringify(body)}`;
      return `  ${type.padEnd(32)} ${event_id}  ${answer}`.trimEnd();
    }),
  ];
}

function reasonOf(body: unknown, silent: boolean): string {
  if (silent) return '';
  return typeof body === 'string' ? `no answer: ${body}` : 'no webhook';
}
