'use client';

import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import Link, { type LinkProps } from 'next/link';
import type { AriaAttributes, ReactNode } from 'react';

// These links are client components. A server component cannot pass Next's `Link` to a Mantine component,
// because `Link` is a function.
type Target = Pick<LinkProps, 'href' | 'prefetch'> & AriaAttributes & { rel?: string; children: ReactNode };

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
