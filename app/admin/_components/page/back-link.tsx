'use client';

import { Group } from '@mantine/core';
import { IconChevronLeft } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { TextLink } from '../../../_components/links';
import { lastQueryOf } from './last-query';

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
