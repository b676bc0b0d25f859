import { Button, ButtonGroup, Group, Text } from '@mantine/core';
import { formatCount } from '@/app/_components/format';
import type { Page } from '@/lib/page';
import { LinkButton, TextLink } from '../../../_components/links';
import { withParams } from '../../../_components/with-params';

interface Props {
  page: Page<unknown>;
  path: string;
  /** The page's query as it is, so that filters stay. */
  params: URLSearchParams;
  noun: string;
  /** Where an s does not make the plural. */
  nouns?: string;
}

const SIZES = [25, 50, 100];

/** Where in the list we are, and the ways on. */
export function Pager({ page: { page, per_page, total, last_page }, path, params, noun, nouns }: Props) {
  const first = (page - 1) * per_page + 1;
  const to = (changes: Record<string, number>) => withParams(path, params, changes);
  return (
    <Group justify="space-between" mt="md" gap="md">
      <Text size="sm" c="dimmed">
        {first <= total ? `${first}–${Math.min(total, page * per_page)} of ` : ''}
        {formatCount(total, noun, nouns)}
      </Text>
      <Group gap="lg">
        {total > 25 && <PageSizes current={per_page} to={(size) => to({ per_page: size, page: 1 })} />}
        {(last_page > 1 || page > 1) && (
          <Steps
            previous={page > 1 ? to({ page: Math.min(page, last_page + 1) - 1 }) : null}
            next={page < last_page ? to({ page: page + 1 }) : null}
          />
        )}
      </Group>
    </Group>
  );
}

/** The choice of how many rows a page has. */
export function PageSizes({ current, to }: { current: number; to(size: number): string }) {
  return (
    <Group gap={10} visibleFrom="sm" component="nav" aria-label="Rows per page">
      <Text size="sm" c="dimmed" component="span">
        Rows
      </Text>
      {SIZES.map((size) => (
        <TextLink
          key={size}
          href={to(size)}
          aria-current={size === current}
          {...(size === current ? { fw: 600, c: 'inherit' } : { fw: 400 })}
        >
          {size}
        </TextLink>
      ))}
    </Group>
  );
}

/** Links to the neighbouring pages; null if that page does not exist. */
export function Steps({ previous, next }: { previous: string | null; next: string | null }) {
  return (
    <ButtonGroup>
      <Step href={previous} label="Previous" rel="prev" />
      <Step href={next} label="Next" rel="next" />
    </ButtonGroup>
  );
}

function Step({ href, label, rel }: { href: string | null; label: string; rel: string }) {
  if (href === null) {
    return (
      <Button variant="default" size="xs" disabled>
        {label}
      </Button>
    );
  }
  return (
    <LinkButton href={href} rel={rel} variant="default" size="xs">
      {label}
    </LinkButton>
  );
}
