'use client';

import dynamic from 'next/dynamic';
import { useState } from 'react';
import { UserButton } from './user-button';

interface Props {
  name: string;
  email: string;
  /** The page is left for another one. */
  onLeave(): void;
}

/** Every page has the button; who presses it loads the menu, whose placing weighs more than all else around a page. */
const OpenedUserMenu = dynamic(() => import('./opened-user-menu').then((part) => part.OpenedUserMenu));

export function UserMenu({ name, email, onLeave }: Props) {
  const [asked, setAsked] = useState(false);
  if (asked) return <OpenedUserMenu {...{ name, email, onLeave }} />;
  return (
    <UserButton
      {...{ name, email }}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setAsked(true)}
    />
  );
}
