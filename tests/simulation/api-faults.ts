import type { RequestLogEntry } from '@/lib/stripe-local/faults';
import type { ApiFate, Step } from './plan';
import type { Stage } from './stage';

/** What goes wrong with Stripe's API in a history. */
export interface ApiFaults {
  /** As planned, request by request. */
  asPlanned(): void;
  /** All of it from some request on, or one object's; until `asPlanned`. */
  failing(step: Step): void;
  /** Nothing more, but that some customers are not known any more. */
  none(): void;
}

/**
 * @param unknown Stripe customers that are asked for in vain
 * @param meanwhile lets so much else happen before a late answer arrives
 */
export function apiFaults(
  { faults, requestCount }: Pick<Stage, 'faults' | 'requestCount'>,
  fates: ApiFate[],
  unknown: ReadonlySet<string>,
  meanwhile: (count: number) => Promise<void>,
): ApiFaults {
  const base = requestCount();
  const onlyUnknown = () => {
    faults.clear();
    const isFor = (request: RequestLogEntry) => unknown.has(request.path.split('/')[3] ?? '');
    faults.add({ when: isFor, fault: { kind: 'status', status: 404, shouldRetry: false } });
    const isOf = ({ query }: RequestLogEntry) => unknown.has(query.customer ?? '');
    faults.add({ when: isOf, fault: { kind: 'status', status: 400, shouldRetry: false } });
  };
  return {
    none: onlyUnknown,
    asPlanned() {
      onlyUnknown();
      for (const [i, fate] of fates.entries()) {
        const fault = toFault(fate, meanwhile);
        if (fault) faults.add({ when: [base + i], fault });
      }
    },
    failing({ b, c }) {
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
