import fc from 'fast-check';
import { paymentStatus } from '@/db/schema';

/** Which customer a write names: the invoice's own, another, or none that exists. */
const customer = fc.oneof(
  { weight: 12, arbitrary: fc.constant('own' as const) },
  fc.constantFrom('other' as const, 'none' as const),
);
/** An invoice of the ledger by its place, counted round; null: none that exists. */
const invoice = fc.option(fc.nat(30), { freq: 20 });
/** A payment that exists by its place, counted round; null: none that exists. */
const target = fc.option(fc.nat(30), { freq: 20 });
const amount = fc.oneof(
  fc.integer({ min: 1, max: 15_000 }).map((cents) => cents / 100),
  fc.constantFrom(0.1, 0.2, 0.3, 119, 118.99, 119.01, 80, 1200, 600, 10.125, 10.124, 0.001, 12.345, 1e-7),
  fc.constantFrom(1, 999_999_999_999),
);
const payment_date = fc.constantFrom('2026-01-31', '2026-03-10', '2027-12-24');
const payment_reference = fc.constantFrom('R1', 'R2', 'R3', 'R4', 'R5', 'in_paid');
const status = fc.constantFrom(...paymentStatus.enumValues);

const post = fc.record(
  { do: fc.constant('post' as const), invoice, customer, amount, payment_date, payment_reference, status },
  { requiredKeys: ['do', 'invoice', 'customer', 'amount', 'payment_date', 'payment_reference'] },
);
const patch = fc
  .record(
    {
      do: fc.constant('patch' as const),
      target,
      invoice,
      customer,
      amount,
      payment_date,
      payment_reference,
      status,
    },
    { requiredKeys: ['do', 'target'] },
  )
  .filter((given) => Object.keys(given).length > 2);
/** The fields of a payment once more as they are. */
const repeat = fc.record({ do: fc.constant('repeat' as const), target: fc.nat(30) });
const remove = fc.record({ do: fc.constant('delete' as const), target });
const clock = fc.record({
  do: fc.constant('clock' as const),
  hours: fc.nat(24 * 14),
  /** Whether the nightly run comes by. */
  night: fc.boolean(),
});

/** A write of one payment. */
export const write = fc.oneof(
  { weight: 5, arbitrary: post },
  { weight: 7, arbitrary: patch },
  { weight: 3, arbitrary: fc.oneof(remove, repeat) },
);
export type Write = typeof write extends fc.Arbitrary<infer Value> ? Value : never;

/** A write, or a change of the day. */
export const step = fc.oneof({ weight: 9, arbitrary: write }, { weight: 1, arbitrary: clock });
export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
