import {
  listMoneyBack,
  QUESTION_DAYS,
  QUESTIONS,
  type Question,
  raisesQuestion,
} from '@/lib/payments/money-back';
import { Nothing, Page, Section, staffPage } from '../../_components/page/staff-page';
import { MoneyBackList } from '../../_components/records/money-back/money-back-list';

export const metadata = { title: 'Refunds and disputes' };

/** Maximum number of rows for each kind of problem. */
const ROWS = 100;

const TITLES: Record<Question, string> = {
  excess: 'More refunded than was paid',
  other_currency: 'Currency differs from the payment',
  unmatched: 'No matching payment',
};

/** Shows the recent refunds and disputes that do not fit a payment, by kind of problem. */
export default staffPage(async ({ runtime: { db, env, now } }) => {
  const found = [];
  for (const question of QUESTIONS) {
    const rows = await listMoneyBack(db, raisesQuestion(question, now()), ROWS);
    if (rows.length > 0) found.push({ question, rows });
  }
  return (
    <Page
      back={{ href: '/admin/payments', label: 'Payments' }}
      title="Refunds and disputes"
      description={`Refunds and disputes of the last ${QUESTION_DAYS} days that need attention.`}
    >
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
    </Page>
  );
});
