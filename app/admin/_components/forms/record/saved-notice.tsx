'use client';

import { type ReactNode, useEffect } from 'react';
import { Notice } from '../../page/notice';
import { forgetTyping } from './use-kept-typing';

/** What was typed has become what it says: it need not be kept any more. */
export function SavedNotice({ children }: { children: ReactNode }) {
  useEffect(forgetTyping, []);
  return <Notice tone="done">{children}</Notice>;
}
