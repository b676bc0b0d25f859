import { countLinkProposals, listLinkProposals } from '@/lib/sync/staff/stripe-customers';
import { PageHeader, staffPage } from '../../../_components/page/staff-page';
import { confirmChosen } from '../../actions';
import { ProposalForm } from './proposal-form';

export const metadata = { title: 'Links to confirm' };

const ROWS = 50;

export default staffPage(async ({ runtime: { db } }) => {
  const proposals = await listLinkProposals(db, ROWS);
  const total = proposals.length < ROWS ? proposals.length : (await countLinkProposals(db)).all;
  return (
    <>
      <PageHeader
        back={{ href: '/admin/subscriptions/stripe-customers', label: 'Customers created from Stripe' }}
        title="Links to confirm"
        description="These Stripe customers share an e-mail address with a customer. Payers type it themselves: leave out anyone you do not know."
      />
      <ProposalForm action={confirmChosen} proposals={proposals} total={total} />
    </>
  );
});
