import type Stripe from 'stripe';
import type { RequestLogEntry } from '../support/stripe-server';
import type { Look } from './oracle/story';
import type { ApiFate, Step } from './plan';
import type { Stage } from './stage';

/**
 * Sets the faults of Stripe's API in a history.
 *
 * @param unknown customers that Stripe does not know
 * @param meanwhile runs up to the given number of batches of queued steps and deliveries before a late answer arrives
 */
export function apiFaults(
  { faults, requestCount }: Pick<Stage, 'faults' | 'requestCount'>,
  fates: ApiFate[],
  unknown: ReadonlySet<string>,
  meanwhile: (count: number) => Promise<void>,
) {
  const base = requestCount();
  /** Makes requests succeed unless they concern an unknown customer. */
  const none = () => {
    faults.clear();
    const isFor = (request: RequestLogEntry) => unknown.has(request.path.split('/')[3] ?? '');
    faults.add({ when: isFor, fault: { kind: 'status', status: 404, shouldRetry: false } });
    const isOf = ({ query }: RequestLogEntry) => unknown.has(query.customer ?? '');
    faults.add({ when: isOf, fault: { kind: 'status', status: 400, shouldRetry: false } });
  };
  return {
    none,
    /** Makes each request fail or succeed as planned. */
    asPlanned() {
      none();
      for (const [i, fate] of fates.entries()) {
        const fault = toFault(fate, meanwhile);
        if (fault) faults.add({ when: [base + i], fault });
      }
    },
    /**
     * Makes all requests after the first few fail, or all requests that retrieve a single object. This lasts until
     * `asPlanned` is called.
     */
    failing({ b, c }: Step) {
      const before = requestCount();
      const when = ({ index, path }: RequestLogEntry) =>
        b % 2 === 0 ? index >= before + c : /_/.test(path.split('/')[3] ?? '');
      faults.add({ when, fault: { kind: 'status', status: 503, shouldRetry: false } });
    },
  };
}

function toFault({ kind, meanwhile: count }: ApiFate, meanwhile: (count: number) => Promise<void>) {
  switch (kind) {
    case 'none':
      return null;
    case 'late':
      return { kind: 'hold', until: () => meanwhile(count) } as const;
    case 'garbage':
      return { kind: 'garbage' } as const;
    case 'limit':
      return { kind: 'status', status: 429 } as const;
    case 'error':
      return { kind: 'status', status: 500, shouldRetry: false } as const;
  }
}

interface Resource {
  retrieve(id: string, params?: object): Promise<object>;
}
type Customer = Stripe.Customer | Stripe.DeletedCustomer;

/** Reports to `see` each answer to the retrieval of a customer, or of a subscription or invoice that expands it. */
export function watch(client: Stripe, see: (look: Look) => void): void {
  const { customers, subscriptions, invoices } = client;
  const retrieve = customers.retrieve.bind(customers);
  customers.retrieve = (async (id: string) => {
    const answer = await retrieve(id).catch((error: { statusCode?: number }) => {
      if (error.statusCode === 404) see({ ...GONE, customer: id, kind: 'asked' });
      throw error;
    });
    if (answer.object === 'customer') see(toLook(answer, 'asked'));
    return answer;
  }) as typeof customers.retrieve;
  for (const resource of [subscriptions, invoices] as unknown as Resource[]) {
    const retrieve = resource.retrieve.bind(resource);
    resource.retrieve = async (id, params) => {
      const answer: { customer?: unknown } = await retrieve(id, params);
      const { customer } = answer;
      if (typeof customer === 'object' && customer !== null) see(toLook(customer as Customer, 'brought'));
      return answer;
    };
  }
}

const GONE = { changes: null, number: undefined, isDoubtful: false };

function toLook(reported: Customer, kind: Look['kind']): Look {
  if (reported.deleted) return { ...GONE, customer: reported.id, kind };
  const { id, metadata } = reported;
  const number = metadata.customer_number;
  return { customer: id, kind, changes: changesOf(metadata), number, isDoubtful: false };
}

/** Returns how often the customer number in a Stripe customer's metadata has changed. */
export function changesOf(metadata: Readonly<Record<string, string>> | undefined): number {
  return Number(metadata?.changes ?? 0);
}
