'use client';

import { Group } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { TextLink } from '@/app/_components/links';

/**
 * Shows a link from a record to its list. If `href` has no query, the link keeps the filters, order and page that this
 * tab last showed.
 */
export function BackLink({ href, label }: { href: string; label: string }) {
  const [query, setQuery] = useState('');
  useEffect(() => setQuery(href.includes('?') ? '' : lastQueryOf(href)), [href]);
  return (
    <TextLink href={href + query} size="sm" fw={500} w="fit-content">
      <Group gap={4}>
        <IconChevronLeft size={16} stroke={1.8} aria-hidden />
        {label}
      </Group>
    </TextLink>
  );
}

const PREFIX = 'w5t.query ';
/** Parameters that contain the outcome of an action. A page shows the outcome only once. */
const ONCE = ['notice', 'check', 'deleted', 'replayed'];

/** Stores the query of a page in this tab's session storage, for links back to the page. */
export function noteQuery(pathname: string, search: URLSearchParams): void {
  const params = new URLSearchParams(search);
  for (const name of ONCE) params.delete(name);
  if (params.size > 0) sessionStorage.setItem(PREFIX + pathname, `?${params}`);
  else sessionStorage.removeItem(PREFIX + pathname);
}

/** Returns the query of this tab's last visit to a page, including the question mark. Returns '' if it had none. */
const lastQueryOf = (pathname: string): string => sessionStorage.getItem(PREFIX + pathname) ?? '';
