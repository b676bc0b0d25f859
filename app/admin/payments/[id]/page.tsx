import { Alert, SimpleGrid, Stack } from '@mantine/core';
import { notFound } from 'next/navigation';
import { formatMoney } from '@/app/_components/format';
import { listAudit } from '@/lib/audit/audit-log';
import { requireStaff } from '@/lib/auth/staff-session';
import { isUndecided, listMoneyBack, ofPayment } from '@/lib/payments/money-back';
import { getPayment, getPaymentContext, toDeletedPayment } from '@/lib/payments/queries';
import { findStripePayment } from '@/lib/payments/stripe-payment';
import { getRuntime } from '@/lib/runtime';
import { getLastCheck } from '@/lib/sync/staff/check-with-stripe';
import { orNotFound, orNull } from '../../../_components/or-not-found';
import { type SearchParams, toId, toParams } from '../../../_components/search-params';
import { AuditTrail } from '../../_components/audit/audit-trail';
import { CheckNotice, LastCheckSection } from '../../_components/audit/check/check';
import { RecordTitle } from '../../_components/display/status';
import { Instant } from '../../_components/display/values';
import { PageHeader } from '../../_components/page/page-header';
import { Section } from '../../_components/page/section';
import { titleOfRow } from '../../_components/page/title-of';
import { MoneyBackSection } from '../../_components/records/money-back/money-back-list';
import { RecordTasks } from '../../_components/records/record-tasks';
import { ContextFacts, PaymentActions, PaymentFacts, PaymentNotice } from './payment-parts';

export const generateMetadata = titleOfRow('Payment', async (db, id) => {
  const { payment_reference } = await getPayment(db, id);
  return `Payment ${payment_reference}`;
});

/** Far more than one payment has. */
const MAX_ROWS = 100;

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
  const search = toParams(await searchParams);
  const notice = search.get('notice');
  const context = await orNotFound(getPaymentContext(db, payment));
  const stripePayment = held && (await findStripePayment(db, id));
  const moneyBack = await listMoneyBack(db, ofPayment(id), MAX_ROWS);
  const status = moneyBack.some(isUndecided) ? 'disputed' : payment.status;
  const lastCheck = await getLastCheck(db, history);
  return (
    <>
      <PageHeader
        back={{ href: '/admin/payments', label: 'Payments' }}
        title={
          <RecordTitle status={deleted ? 'deleted' : status}>
            {formatMoney(payment.amount, payment.currency)}
          </RecordTitle>
        }
        description={payment.payment_reference}
        actions={
          held && (
            <PaymentActions
              key={notice}
              payment={held}
              invoice={context.invoice}
              isAtStripe={Boolean(stripePayment || context.invoice.stripe_invoice_id)}
            />
          )
        }
      />
      <PaymentNotice notice={notice} />
      <RecordTasks entity="payment" id={id} />
      <CheckNotice outcome={search.get('check')} last={lastCheck} />
      {deleted && (
        <Alert color="orange" variant="light" mb="lg" title="This payment was deleted">
          {deleted.deleted_by} deleted it on <Instant at={deleted.deleted_at} timeZone={env.timeZone} />. This
          is its last version.
        </Alert>
      )}
      <Stack gap="xl">
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
          <Section title="Payment">
            <PaymentFacts payment={payment} stripePayment={stripePayment} timeZone={env.timeZone} />
          </Section>
          <ContextFacts {...context} />
        </SimpleGrid>
        <MoneyBackSection rows={moneyBack} timeZone={env.timeZone} />
        <LastCheckSection last={lastCheck} timeZone={env.timeZone} />
        <Section title="History">
          <AuditTrail entries={history} timeZone={env.timeZone} />
        </Section>
      </Stack>
    </>
  );
}
