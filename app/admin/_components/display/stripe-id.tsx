import { Group } from '@mantine/core';
import { dashboardPathOf } from '@/lib/stripe/dashboard';
import { TextLink } from '../../../_components/links';
import { CopyButton } from './copy-button';
import { StripeLink } from './stripe-link';

interface Props {
  id: string;
  /** Our own page about it. The link to Stripe's page then stands beside it. */
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
