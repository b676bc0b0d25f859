import { getOpenDisputes } from '@/lib/overview/money';
import { getRuntime } from '@/lib/runtime';
import { formatCount, formatNumber } from '../../_components/format';
import { TextLink } from '../../_components/links';
import { Figure } from '../_components/display/figure';
import { Instant } from '../_components/display/instant';

/** How many payments are asked back, and by when the next answer is due. */
export async function OpenDisputes() {
  const { db, env } = await getRuntime();
  const { count, unanswered, next_due } = await getOpenDisputes(db);
  return (
    <Figure
      label="Open disputes"
      value={count > 0 ? formatNumber(count) : 'No open disputes'}
      note={<TextLink href="/admin/payments?status=disputed">Disputed payments</TextLink>}
    >
      {unanswered > 0 && (
        <>
          {formatCount(unanswered, 'answer')} needed
          {next_due && (
            <>
              , the next by <Instant at={next_due} timeZone={env.timeZone} />
            </>
          )}
        </>
      )}
    </Figure>
  );
}
