import type { Tables } from '../tables';
import type { Difference } from './story';

/** Expects the accounting entries of each invoice and payment to add up to the amounts in our tables. */
export function checkBooks({ invoices, payments, entries, notes = [] }: Tables): Difference[] {
  const posted = new Map<string, number>();
  for (const { record, invoice_id, payment_id, gross } of entries) {
    const key = `${record} ${payment_id ?? invoice_id}`;
    posted.set(key, (posted.get(key) ?? 0) + Number(gross));
  }
  const expected = new Map<string, number>();
  for (const row of invoices) {
    // Our own invoices existed before the history. The first reconciliation posts them, unless a payment did so before.
    const isUnknown = row.stripe_invoice_id === null && !posted.has(`invoice ${row.id}`);
    if (isUnknown || row.status === 'draft' || row.status === 'cancelled') continue;
    expected.set(`invoice ${row.id}`, Number(row.total));
    expected.set(`credit ${row.id}`, -Number(row.amount_credited));
    const added = notes.filter((note) => note.invoice_id === row.id && !note.is_void);
    const balance = added.reduce(
      (sum, { to_balance }) => sum - Number(to_balance),
      Number(row.balance_applied),
    );
    expected.set(`balance ${row.id}`, balance);
    const isWrittenOff = row.uncollectible && row.status === 'overdue';
    expected.set(`write_off ${row.id}`, isWrittenOff ? -Number(row.amount_due) : 0);
  }
  for (const row of payments) {
    if (row.status !== 'completed' && row.status !== 'refunded') continue;
    expected.set(`payment ${row.id}`, Number(row.amount));
    expected.set(`refund ${row.id}`, -Number(row.refunded_amount));
  }
  const all = [...new Set([...posted.keys(), ...expected.keys()])].filter(
    (key) => !/^paid_elsewhere/.test(key),
  );
  return all.flatMap((what) => {
    const [wanted, actual] = [expected, posted].map((of) => (of.get(what) ?? 0).toFixed(3));
    return Number(wanted) === Number(actual) ? [] : [{ what: `posted: ${what}`, expected: wanted, actual }];
  });
}

/** The accounting entries of past months, which must no longer change. */
export class SealedMonths {
  private month = '';
  private sealed: Tables['entries'] = [];

  /** Returns whether a new month has begun since the last call of `seal`. @param today calendar date */
  isOver(today: string): boolean {
    return today.slice(0, 7) > this.month;
  }

  /**
   * Records the entries of all months before the month of `today`. @returns changes to the entries that were recorded
   * earlier
   */
  seal(today: string, { entries }: Tables): Difference[] {
    const differences = this.compare({ entries });
    this.month = today.slice(0, 7);
    this.sealed = this.until(entries);
    return differences;
  }

  compare({ entries }: Pick<Tables, 'entries'>): Difference[] {
    const now = this.until(entries);
    if (JSON.stringify(now) === JSON.stringify(this.sealed)) return [];
    return [{ what: `entries before ${this.month}`, expected: this.sealed, actual: now }];
  }

  private until(entries: Tables['entries']): Tables['entries'] {
    return entries.filter(({ booked_on }) => booked_on < `${this.month}-01`);
  }
}
