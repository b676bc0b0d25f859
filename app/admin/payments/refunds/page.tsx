import { Stack } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { listMoneyBack, QUESTION_DAYS, QUESTIONS, type Question, raising } from '@/lib/payments/money-back';
import { getRuntime } from '@/lib/runtime';
import { PageHeader } from '../../_components/page/page-header';
import { Nothing, Section } from '../../_components/page/section';
import { MoneyBackList } from '../../_components/records/money-back/money-back-list';

export const metadata: Metadata = { title: 'Refunds and disputes' };

/** Of each question so many are shown. */
const ROWS = 100;

const TITLES: Record<Question, string> = {
  excess: 'More refunded than was paid',
  other_currency: 'Currency differs from the payment',
  unmatched: 'No matching payment',
};

/** The refunds and disputes that need a person. */
export default async function RefundsPage() {
  await requireStaff();
  const { db, env, now } = await getRuntime();
  const found = [];
  for (const question of QUESTIONS) {
    const rows = await listMoneyBack(db, raising(question, now()), ROWS);
    if (rows.length > 0) found.push({ question, rows });
  }
  return (
    <>
      <PageHeader
        back={{ href: '/admin/payments', label: 'Payments' }}
        title="Refunds and disputes"
        description={`Refunds and disputes of the last ${QUESTION_DAYS} days that need attention.`}
      />
      <Stack gap="xl">
        {found.map(({ question, rows }) => (
          <div key={question} id={question} style={{ scrollMarginTop: 72 }}>
            <Section title={TITLES[question]}>
              <MoneyBackList rows={rows} timeZone={env.timeZone} namesPayments />
            </Section>
          </div>
        ))}
        {found.length === 0 && (
          <Nothing title="Nothing to review" text="Every refund and dispute matches a payment." />
        )}
      </Stack>
    </>
  );
}
