'use client';

import { usePathname, useSearchParams } from 'next/navigation';
import { useEffect } from 'react';
import { noteQuery } from '../page/last-query';
import { watchForms } from '../page/unsaved-forms';

/** Remembers the filters of each page for links back to it, and typed values until they are saved. */
export function PageMemory() {
  const [pathname, search] = [usePathname(), useSearchParams()];
  useEffect(() => noteQuery(pathname, search), [pathname, search]);
  useEffect(watchForms, []);
  return null;
}
