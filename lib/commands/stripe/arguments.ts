import { StartError } from '../../errors';
import { readArguments } from '../read-arguments';

/** What to do with Stripe: read all of it, or link what a file says. */
export type StripeWanted =
  | { task: 'read'; dryRun: boolean; proposals: string | undefined; linkByEmail: boolean }
  | { task: 'link'; file: string };

export const STRIPE_USAGE = [
  'Usage: npm run -s import -- stripe [--dry-run | [--link-by-email] [--proposals FILE.csv]]',
  '       npm run -s import -- stripe --link FILE.csv',
  'Reads what is at Stripe, or the rest where it was stopped, and says what could not be linked to a customer.',
  '--dry-run        shows what would change, and writes nothing',
  '--link-by-email  confirms the links of those whose e-mail address exactly one customer has',
  '--proposals      writes who is still not linked, with the customer that it may be',
  '--link           links as the customer_number of each row of that file says, once you have checked it',
];

/** @throws StartError */
export function readStripe(args: string[]): StripeWanted {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values } = readArguments(args, {
    usage: STRIPE_USAGE,
    options: { 'dry-run': flag, 'link-by-email': flag, proposals: text, link: text },
    positionals: 1,
  });
  const { proposals, link: file } = values;
  const dryRun = values['dry-run'] ?? false;
  const linkByEmail = values['link-by-email'] ?? false;
  const others = dryRun || linkByEmail || proposals !== undefined;
  if (file !== undefined) {
    if (others)
      throw new StartError(['--link goes alone: it links as the file says, and reads nothing else.']);
    return { task: 'link', file };
  }
  if (dryRun && (linkByEmail || proposals !== undefined)) {
    throw new StartError(['--dry-run goes alone: it links nobody and writes no file.']);
  }
  return { task: 'read', dryRun, proposals, linkByEmail };
}
