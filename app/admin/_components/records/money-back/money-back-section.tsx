import type { MoneyBackRow } from '@/lib/payments/money-back';
import { Section } from '../../page/section';
import { MoneyBackList } from './money-back-list';

interface Props {
  rows: MoneyBackRow[];
  timeZone: string;
  namesPayments?: boolean;
}

/** Refunds and disputes of one record, where there are any. */
export function MoneyBackSection(props: Props) {
  if (props.rows.length === 0) return null;
  return (
    <Section title="Refunds and disputes">
      <MoneyBackList {...props} />
    </Section>
  );
}
