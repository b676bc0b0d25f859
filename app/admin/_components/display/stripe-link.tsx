import { Anchor } from '@mantine/core';
import { IconExternalLink } from '@tabler/icons-react';
import { getRuntime } from '@/lib/runtime';
import { dashboardUrl } from '@/lib/stripe/dashboard';

interface Props {
  /** Below Stripe's dashboard: `payments/pi_…`. */
  path: string;
  /** Where there are several, which one. */
  label?: string;
  children: string;
}

/** Leads to an object in Stripe's dashboard. */
export async function StripeLink({ path, label, children }: Props) {
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
