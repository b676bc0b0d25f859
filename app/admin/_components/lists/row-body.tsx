'use client';

import type { MouseEvent, ReactNode } from 'react';

/** Opens a record on a click in its table row, unless the click is on a link or control, or text is selected. */
export function RowBody({ children }: { children: ReactNode }) {
  // biome-ignore lint/a11y/useKeyWithClickEvents: keyboard users have the link in the row
  return <tbody onClick={follow}>{children}</tbody>;
}

function follow({ target, ctrlKey, metaKey }: MouseEvent): void {
  if (!(target instanceof Element) || target.closest('a, button, input, label')) return;
  if (getSelection()?.isCollapsed === false) return;
  const link = target.closest('tr')?.querySelector<HTMLAnchorElement>('a[data-row]');
  if (!link) return;
  if (ctrlKey || metaKey) window.open(link.href, '_blank', 'noopener');
  else link.click();
}
