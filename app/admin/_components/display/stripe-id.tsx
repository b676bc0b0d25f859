import { Group } from '@mantine/core';
import { dashboardPathOf } from '@/lib/stripe/dashboard';
import { TextLink } from '../../../_components/links';
import { CopyButton } from './copy-button';
import { StripeLink } from './stripe-link';

interface Props {
  id: string;
  /** A page of ours about it; Stripe's is beside it then. */
  href?: string | undefined;
}

/** An id of Stripe's: it leads to Stripe's dashboard, and can be copied. */
export function StripeId({ id, href }: Props) {
  const path = dashboardPathOf(id);
  return (
    <Group gap={4} wrap="nowrap" component="span">
      {href && <TextLink href={href}>{id}</TextLink>}
      {path && (
        <StripeLink path={path} label={`${id} at Stripe`}>
          {href ? 'Stripe' : id}
        </StripeLink>
      )}
      {!path && !href && id}
      <CopyButton value={id} name={id} />
    </Group>
  );
}
