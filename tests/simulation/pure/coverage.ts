import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap, type SourceMapping } from 'node:module';

const DECIDE = /\/(lib\/sync\/decide\/[^?]+)/;

interface Script {
  file: string;
  /** The source position of each offset, such as `lib/sync/decide/plan.ts:12:3`. Null if an offset has none. */
  places: (string | null)[];
}

/** Starts counting blocks. V8 does not count code that is already compiled, so `decide` must not be loaded yet. */
export async function startCoverage(): Promise<BlockCoverage> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return new BlockCoverage(session);
}

/** Tracks the blocks of `decide` that this process has not reached, as counted by V8. */
class BlockCoverage {
  private readonly scripts = new Map<string, Script>();
  private readonly unreached = new Set<string>();

  constructor(private readonly session: Session) {}

  /** Reads the sources of `decide`. Call it after all modules of `decide` are loaded. */
  async readSources(): Promise<void> {
    const isExempt = exemptPlaces();
    const found: { scriptId: string; url: string }[] = [];
    this.session.on('Debugger.scriptParsed', ({ params }) => found.push(params));
    await this.session.post('Debugger.enable');
    for (const { scriptId, url } of found) {
      const [, file] = DECIDE.exec(url) ?? [];
      if (file === undefined || this.scripts.has(url)) continue;
      const { scriptSource } = await this.session.post('Debugger.getScriptSource', { scriptId });
      const places = placesOf(file, scriptSource);
      this.scripts.set(url, { file, places });
      for (const place of places) if (place !== null && !isExempt(place)) this.unreached.add(place);
    }
    await this.session.post('Debugger.disable');
  }

  async take(): Promise<string[]> {
    const { result } = await this.session.post('Profiler.takePreciseCoverage');
    for (const { url, functions } of result) {
      const script = this.scripts.get(url);
      if (script) for (const place of reached(script, functions)) this.unreached.delete(place);
    }
    return [...this.unreached];
  }
}

interface Ranges {
  ranges: { startOffset: number; endOffset: number; count: number }[];
}

function reached({ places }: Script, functions: Ranges[]): Set<string> {
  const counts = new Uint8Array(places.length).fill(1);
  // Outer ranges come first, because the innermost range of a place holds its count.
  const ranges = functions.flatMap((one) => one.ranges);
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const { startOffset, endOffset, count } of ranges)
    counts.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  const found = new Set<string>();
  for (const [at, place] of places.entries()) if (place !== null && counts[at] === 1) found.add(place);
  return found;
}

/** Characters that V8 counts as part of no block if they follow a block that always returns. */
const SILENT = new Set(' \n\t;,)}]');

function placesOf(file: string, source: string): Script['places'] {
  const [, encoded = ''] = /sourceMappingURL=data:application\/json;base64,(\S+)/.exec(source) ?? [];
  const map = new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')));
  const end = source.lastIndexOf('//# sourceMappingURL');
  let [line, column] = [0, 0];
  return [...source].map((letter, at) => {
    const isPlace = at < end && !SILENT.has(letter);
    const found = isPlace ? (map.findEntry(line, column) as Partial<SourceMapping>) : {};
    if (letter === '\n') [line, column] = [line + 1, 0];
    else column += 1;
    const { originalLine, originalColumn } = found;
    if (originalLine === undefined || originalColumn === undefined) return null;
    return `${file}:${originalLine + 1}:${originalColumn + 1}`;
  });
}

/**
 * Code in `decide` that no history reaches, or almost none. Each entry has the file and the reason, then the code, then
 * the whole source line if the code alone is ambiguous.
 */
const EXEMPT = `
lib/sync/decide/customer.ts: links by number from before sync noted the source of a number
return one.source === 'customer';

lib/sync/decide/invoice.ts: imported invoices that have an id at Stripe but no Stripe customer
provider.customer?.stripeCustomerId ?? null

lib/sync/decide/invoice.ts: a row that was just written is always there, and sync gives each row a customer and a time
) ?? invoice;

lib/sync/decide/invoice.ts: likewise, while a revised invoice is cancelled
draft.ask('invoice', revises, stripe_customer_id ?? '')

lib/sync/decide/invoice.ts: likewise
latest(asOf, row.provider_as_of ?? asOf)

lib/sync/decide/invoice.ts: likewise, while lines are fetched
row.stripe_customer_id ?? '', row.version)

lib/sync/decide/draft.ts: a decision adds two tasks in fewer than one of 100,000 histories
({ kind, subject }) => kind === task.kind && subject === task.subject);
const isKnown = this.tasks.some(({ kind, subject }) => kind === task.kind && subject === task.subject);

lib/sync/decide/invoice.ts: one of 20,000 histories asks again for an object that Stripe no longer has
return;
if (row?.provider_gone_at !== null) return;

lib/sync/decide/payment.ts: one of 20,000 histories changes the amount of a payment that was refunded in part
settleMoneyBack(draft, stored, { values });

lib/sync/decide/money-back.ts: one of 50,000 histories refunds an intent that only a program recorded, under another id
return invoice && draft.collectedOf(invoice);

lib/sync/decide/draft.ts: only Stripe's invoices are asked for payments that were recorded here
this.require({ payments: [stripe_invoice_id ?? ''] });

lib/sync/decide/money-back.ts: an invoice that was paid always has a number
invoice.number ?? invoice.stripe_invoice_id

lib/sync/decide/payment.ts: likewise
id}. Delete payment

lib/sync/decide/subscription/subscription.ts: the decided event is always among the events of its second
) ?? incoming;

lib/sync/decide/subscription/subscription.ts: imported subscriptions, likewise
provider.customer?.stripeCustomerId ?? null

lib/sync/decide/customer.ts: two runs at the same time, of which one was taken for dead
return undefined;
if (!stored?.recheck_at) return undefined;

lib/sync/decide/subscription/adopt-sold.ts: only staff confirm a reference that a checkout declined, which no history does
{ ...ours, ...link, checkout_completed_at, ...(status === 'active' && { status }) }

lib/sync/decide/subscription/items.ts: services are always read together with their items
null));

lib/sync/decide/money-back.ts: only events of one second need it, and no event reports refunds and disputes
incoming,
decideFromInbox: () => incoming,

lib/sync/decide/money-back.ts: objects without a creation time, which Stripe does not send
row.issued_at,

lib/sync/decide/subscription/checkout.ts: checkouts of other customers: the model reads only the customer that is decided
return null;
if (stored.checkout?.stripe_customer_id !== stripeCustomerId) return null;

lib/sync/decide/subscription/checkout.ts: a Stripe customer that was moved always has a link
continue;
if (!link) continue;

lib/sync/decide/customer.ts: fewer than one of 20,000 histories leave a created customer to a link by e-mail
{
for (const link of draft.linksOf(customerId)) {

lib/sync/decide/customer.ts: likewise
if (link.linked_by === 'email') draft.links.put({ ...link, linked_by: 'created' });

lib/sync/decide/money-back.ts: two runs at the same time, of which one was taken for dead
return;
if (!row || row.payment_id !== null) return;
`;

/**
 * Returns a function that tests whether a place such as `lib/sync/decide/plan.ts:12:3` is exempt.
 *
 * @throws Error if exempt code no longer exists
 */
export function exemptPlaces(): (place: string) => boolean {
  const ranges = EXEMPT.trim()
    .split('\n\n')
    .map((text) => {
      const [head = '', code = '', whole = code] = text.split('\n');
      const [file = ''] = head.split(': ');
      const lines = readFileSync(file, 'utf8').split('\n');
      const at = lines.findIndex((line) => line.includes(whole));
      if (at === -1) throw new Error(`${file} has no ${whole}`);
      const from = lines[at]?.indexOf(code) ?? 0;
      return { file, line: at + 1, from: from + 1, to: from + code.length };
    });
  return (place) => {
    const [file, line, column] = place.split(':');
    return ranges.some(
      (one) =>
        one.file === file &&
        one.line === Number(line) &&
        one.from <= Number(column) &&
        Number(column) <= one.to,
    );
  };
}

/** Formats places as text. Returns a line for each source line, with its text from the first unreached column on. */
export function showPlaces(places: string[]): string[] {
  const first = new Map<string, number>();
  for (const place of places) {
    const [file = '', line = '', column = ''] = place.split(':');
    const key = `${file}:${line}`;
    first.set(key, Math.min(first.get(key) ?? Number.POSITIVE_INFINITY, Number(column)));
  }
  return [...first].map(([key, column]) => {
    const [file = '', line = ''] = key.split(':');
    const text = readFileSync(file, 'utf8').split('\n')[Number(line) - 1] ?? '';
    return `${key}: ${text.slice(column - 1).trim()}`;
  });
}
