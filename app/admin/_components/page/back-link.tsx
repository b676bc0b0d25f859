'use client';

import { Group } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { TextLink } from '@/app/_components/links';

/** Leads from a record back to its list as it was last seen in this tab: with its filters, order and page. */
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
/** They say what an action did, which a page shows once. */
const ONCE = ['notice', 'check', 'deleted', 'replayed'];

/** Notes the query of a page, so that links back to the page can keep it. Each tab has its own. */
export function noteQuery(pathname: string, search: URLSearchParams): void {
  const params = new URLSearchParams(search);
  for (const name of ONCE) params.delete(name);
  if (params.size > 0) sessionStorage.setItem(PREFIX + pathname, `?${params}`);
  else sessionStorage.removeItem(PREFIX + pathname);
}

/** The query with which this tab last showed a page; empty if it had none. */
const lastQueryOf = (pathname: string): string => sessionStorage.getItem(PREFIX + pathname) ?? '';
