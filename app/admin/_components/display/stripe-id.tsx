import { Anchor, Group } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { TextLink } from '@/app/_components/links';
import { getRuntime } from '@/lib/runtime';
import { dashboardPathOf, dashboardUrl } from '@/lib/stripe/dashboard';
import { CopyButton } from './copy-button';

interface Props {
  id: string;
  /** URL of our page about the object, to which the id then links. A page at Stripe, if any, gets a second link. */
  href?: string | undefined;
}

/** Shows a Stripe id with a copy button and, if Stripe's dashboard has a page for the object, a link to that page. */
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

interface StripeLinkProps {
  /** Path within Stripe's dashboard, such as `payments/pi_…`. */
  path: string;
  /** Label that distinguishes this link from others on the page. */
  label?: string;
  children: string;
}

/** Shows a link to an object in Stripe's dashboard. */
export async function StripeLink({ path, label, children }: StripeLinkProps) {
  const { env } = await getRuntime();
  return (
    <Anchor
      href={dashboardUrl(env.stripe.mode, path)}
      target="_blank"
      rel="noreferrer"
      size="sm"
      fw={500}
      {...(label && { 'aria-label': label })}
    >
      {children} <IconExternalLink size={13} stroke={1.8} aria-hidden />
    </Anchor>
  );
}
