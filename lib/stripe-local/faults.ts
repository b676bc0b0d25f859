/** What goes wrong with a request. */
export type Fault =
  | {
      kind: 'status';
      status: 400 | 403 | 404 | 409 | 429 | 500 | 503;
      /** Seconds, as the Retry-After header. */
      retryAfter?: number;
      /** The stripe-should-retry header. */
      shouldRetry?: boolean;
    }
  /** The answer is made at once and sent so much later: it may be out of date by then. */
  | { kind: 'latency'; ms: number }
  /** The answer is made at once and sent when this resolves. */
  | { kind: 'hold'; until(): Promise<void> }
  | { kind: 'reset' }
  /** Never answered. */
  | { kind: 'timeout' }
  /** 200 with a body that is not JSON. */
  | { kind: 'garbage'; body?: string };

export interface RequestLogEntry {
  /** Counts from 0. */
  index: number;
  method: string;
  path: string;
  query: Record<string, string>;
}

export interface FaultRule {
  fault: Fault;
  /** Requests by their number, or those it says yes to; left out: any. */
  when?: readonly number[] | ((request: RequestLogEntry) => boolean);
  /** How often at most. */
  times?: number;
}

export interface Faults {
  add(rule: FaultRule): void;
  clear(): void;
  /** The first rule's that applies; it is used up by this. */
  next(request: RequestLogEntry): Fault | undefined;
}

export function createFaults(): Faults {
  let rules: { rule: FaultRule; left: number }[] = [];
  return {
    add: (rule) => {
      rules.push({ rule, left: rule.times ?? Number.POSITIVE_INFINITY });
    },
    clear: () => {
      rules = [];
    },
    next: (request) => {
      const found = rules.find(({ rule, left }) => left > 0 && applies(rule, request));
      if (found) found.left -= 1;
      return found?.rule.fault;
    },
  };
}

function applies({ when }: FaultRule, request: RequestLogEntry): boolean {
  if (when === undefined) return true;
  return typeof when === 'function' ? when(request) : when.includes(request.index);
}
