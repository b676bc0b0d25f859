import { type PaymentFilters, paymentFilters } from '@/lib/payments/schema';

const FIELDS = [
  'status',
  'customer_id',
  'invoice_id',
  'payment_reference',
  'payment_date_from',
  'payment_date_to',
] as const;
const NUMBERS = new Set(['customer_id', 'invoice_id', 'page', 'per_page']);

export interface ParsedFilters {
  filters: PaymentFilters | null;
  /** Of each refused field its message; fields that are not ours stand for the whole. */
  problems: Record<string, string>;
  active: boolean;
}

/** The filters in a page's address, by the payments API's own rules; null when one is wrong. */
export function parsePaymentFilters(params: URLSearchParams): ParsedFilters {
  const input = [...FIELDS, 'page', 'per_page'].flatMap((name): [string, unknown][] => {
    const text = params.get(name);
    return text === null ? [] : [[name, NUMBERS.has(name) ? Number(text) : text]];
  });
  const parsed = paymentFilters.safeParse(Object.fromEntries(input));
  const active = FIELDS.some((name) => params.has(name));
  if (parsed.success) return { filters: parsed.data, problems: {}, active };
  const problems = parsed.error.issues.map((issue) => [String(issue.path[0] ?? ''), issue.message]);
  return { filters: null, problems: Object.fromEntries(problems), active };
}
