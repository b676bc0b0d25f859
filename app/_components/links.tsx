'use client';

import { Anchor, type AnchorProps, Button, type ButtonProps, Group, Text } from '@mantine/core';
import NextLink, { type LinkProps } from 'next/link';
import type { AriaAttributes, ComponentProps, ReactNode } from 'react';

// These links are client components, because a server component cannot pass Next's `Link`, which is a function, to a
// Mantine component.
type Target = Pick<LinkProps, 'href'> & AriaAttributes & { rel?: string; children: ReactNode };

/**
 * Next's link without prefetching. Our pages are rendered on request and have no loading state, so a prefetch does not
 * make a click faster. Prefetching every link of a page would cost the server more than the page itself.
 */
export function Link(props: Omit<ComponentProps<typeof NextLink>, 'prefetch'>) {
  return <NextLink {...props} prefetch={false} />;
}

export function LinkButton(props: Target & ButtonProps) {
  return <Button component={Link} {...props} />;
}

/** Shows a link as a plain button, for related pages and less common actions. */
export function SideButton(props: Target) {
  return <LinkButton size="sm" variant="default" {...props} />;
}

export function TextLink(props: Target & AnchorProps) {
  return <Anchor component={Link} size="sm" fw={500} {...props} />;
}

/** Shows the product's logo and name. */
export function Brand() {
  return (
    <Group gap={10} wrap="nowrap">
      <svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" fill="#5750dc" />
        <path d="M8 10h16M8 16h16M8 22h9" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
      </svg>
      <Text fw={600} size="sm" component="span">
        W5T Administration
      </Text>
    </Group>
  );
}
