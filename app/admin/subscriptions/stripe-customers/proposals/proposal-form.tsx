'use client';

import { Button, Checkbox, List, ListItem, Stack, Text } from '@mantine/core';
import { useActionState } from 'react';
import { formatCount } from '@/app/_components/format';
import { TextLink } from '@/app/_components/links';
import type { LinkProposal } from '@/lib/sync/staff/stripe-customers';
import { Notice } from '../../../_components/page/notice';
import type { ConfirmState } from '../../actions';

interface Props {
  action(before: ConfirmState | null, form: FormData): Promise<ConfirmState>;
  proposals: LinkProposal[];
  /** Total number of proposals, including proposals that are not shown yet. */
  total: number;
}

/** Shows a form that confirms several proposed links together. All links are selected initially. */
export function ProposalForm({ action, proposals, total }: Props) {
  const [state, submit, pending] = useActionState(action, null);
  return (
    <>
      {state && state.done > 0 && (
        <Notice tone="done">{`${formatCount(state.done, 'link')} confirmed.`}</Notice>
      )}
      {state && state.refused.length > 0 && (
        <Notice tone="refused">
          <List size="sm">
            {state.refused.map(({ stripeCustomerId, refusal }) => (
              <ListItem key={stripeCustomerId}>{`${stripeCustomerId}: ${refusal}`}</ListItem>
            ))}
          </List>
        </Notice>
      )}
      {proposals.length === 0 ? (
        <Text size="sm">There are no links to confirm.</Text>
      ) : (
        <form action={submit}>
          <Stack gap="sm">
            {proposals.map((one) => (
              <Checkbox
                key={one.stripe_customer_id}
                name="link"
                value={`${one.stripe_customer_id} ${one.from} ${one.to}`}
                defaultChecked
                label={
                  <>
                    <TextLink href={`/admin/subscriptions/stripe-customers/${one.stripe_customer_id}`}>
                      {one.stripe_customer_id}
                    </TextLink>
                    {` is ${one.to_name ? `${one.to_name} (${one.to_number})` : one.to_number}`}
                  </>
                }
                description={
                  one.from === one.to
                    ? `${one.email}; already linked by e-mail`
                    : `${one.email}; filed under ${one.from_number} until then`
                }
              />
            ))}
            {total > proposals.length && (
              <Text size="sm">{`${total - proposals.length} more will appear once these are confirmed.`}</Text>
            )}
            <Button type="submit" loading={pending} style={{ alignSelf: 'flex-start' }}>
              Confirm selected
            </Button>
          </Stack>
        </form>
      )}
    </>
  );
}
