import { Alert, SimpleGrid, Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import { listAudit } from '@/lib/audit/list-audit';
import { requireStaff } from '@/lib/auth/staff-session';
import { toDeletedPayment } from '@/lib/payments/deleted-payment';
import { getPaymentContext } from '@/lib/payments/payment-context';
import { getPayment } from '@/lib/payments/queries';
import { getRuntime } from '@/lib/runtime';
import { formatMoney } from '../../../_components/format';
import { orNotFound, orNull } from '../../../_components/or-not-found';
import { type SearchParams, toId, toParams } from '../../../_components/search-params';
import { AuditTrail } from '../../_components/audit-trail';
import { Instant } from '../../_components/instant';
import { PageHeader } from '../../_components/page-header';
import { RecordTitle } from '../../_components/record-title';
import { Section } from '../../_components/section';
import { PATH } from '../path';
import { ContextFacts } from './context-facts';
import { PaymentActions } from './payment-actions';
import { PaymentFacts } from './payment-facts';
import { PaymentNotice } from './payment-notice';

export const metadata: Metadata = { title: 'Payment' };

interface Props {
  params: Promise<{ id: string }>;
  searchParams: Promise<SearchParams>;
}

/** A payment, or what it was before it was deleted. */
export default async function PaymentPage({ params, searchParams }: Props) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db, env } = await getRuntime();
  const held = await orNull(getPayment(db, id));
  const history = await listAudit(db, 'payment', id);
  const deleted = held ? null : toDeletedPayment(history);
  const payment = held ?? deleted?.payment ?? notFound();
  const notice = toParams(await searchParams).get('notice');
  const context = await orNotFound(getPaymentContext(db, payment));
  return (
    <>
      <PageHeader
        back={{ href: PATH, label: 'Payments' }}
        title={
          <RecordTitle status={deleted ? 'deleted' : payment.status}>
            {formatMoney(payment.amount, payment.currency)}
          </RecordTitle>
        }
        description={payment.payment_reference}
        actions={held && <PaymentActions key={notice} payment={held} invoice={context.invoice} />}
      />
      <PaymentNotice notice={notice} />
      {deleted && (
        <Alert color="orange" variant="light" mb="lg" title="This payment was deleted">
          {deleted.deleted_by} deleted it on <Instant at={deleted.deleted_at} timeZone={env.timeZone} />. This
          is how it was.
        </Alert>
      )}
      <Stack gap="xl">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Section title="Payment">
            <PaymentFacts payment={payment} timeZone={env.timeZone} />
          </Section>
          <ContextFacts {...context} />
        </SimpleGrid>
        <Section title="History">
          <AuditTrail entries={history} timeZone={env.timeZone} />
        </Section>
      </Stack>
    </>
  );
}
