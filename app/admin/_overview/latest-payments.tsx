import { listLatestPayments } from '@/lib/payments/list-for-staff';
import { getRuntime } from '@/lib/runtime';
import { TextLink } from '../../_components/links';
import { Section } from '../_components/page/section';
import { PaymentList } from '../_components/records/payment-list';

const LATEST = 8;

/** What came in last. */
export async function LatestPayments() {
  const { db } = await getRuntime();
  const latest = await listLatestPayments(db, LATEST);
  return (
    <Section title="Latest payments" action={<TextLink href="/admin/payments">All payments</TextLink>}>
      <PaymentList payments={latest} />
    </Section>
  );
}
