import type Stripe from 'stripe';

/** What Stripe reported of a customer itself, in an answer that arrived. */
export interface Look {
  customer: string;
  /** asked: for the customer; brought: along with an object of it. */
  kind: 'asked' | 'brought';
  /** How often its own number had changed by then; null: it was deleted. */
  changes: number | null;
  number: string | undefined;
  /** What was done with it may have been undone by a crash. */
  isDoubtful: boolean;
}

export function changesOf(metadata: Readonly<Record<string, string>> | undefined): number {
  return Number(metadata?.changes ?? 0);
}

/** Lets someone see what the client is sent of customers. */
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
  for (const resource of [subscriptions, invoices]) watchBrought(resource, see);
}

interface Resource {
  retrieve(id: string, params?: object): Promise<object>;
}

function watchBrought(resource: object, see: (look: Look) => void): void {
  const own = resource as Resource;
  const retrieve = own.retrieve.bind(own);
  own.retrieve = async (id, params) => {
    const answer: { customer?: unknown } = await retrieve(id, params);
    const { customer } = answer;
    if (typeof customer === 'object' && customer !== null) {
      see(toLook(customer as Stripe.Customer | Stripe.DeletedCustomer, 'brought'));
    }
    return answer;
  };
}

const GONE = { changes: null, number: undefined, isDoubtful: false };

function toLook(reported: Stripe.Customer | Stripe.DeletedCustomer, kind: Look['kind']): Look {
  if (reported.deleted) return { ...GONE, customer: reported.id, kind };
  const { id, metadata } = reported;
  return {
    customer: id,
    kind,
    changes: changesOf(metadata),
    number: metadata.customer_number,
    isDoubtful: false,
  };
}
