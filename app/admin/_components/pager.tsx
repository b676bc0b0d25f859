import { Button, ButtonGroup, Group, Text } from '@mantine/core';
import type { Page } from '@/lib/page';
import { formatCount } from '../../_components/format';
import { LinkButton, TextLink } from '../../_components/links';
import { withParams } from '../../_components/search-params';

interface Props {
  page: Page<unknown>;
  path: string;
  /** The page's query as it is, so that filters stay. */
  params: URLSearchParams;
  noun: string;
}

const SIZES = [25, 50, 100];

/** Where in the list we are, and the ways on. */
export function Pager({ page: { page, per_page, total, last_page }, path, params, noun }: Props) {
  const first = (page - 1) * per_page + 1;
  const to = (changes: Record<string, number>) => withParams(path, params, changes);
  return (
    <Group justify="space-between" mt="md" gap="md">
      <Text size="sm" c="dimmed">
        {first <= total ? `${first}–${Math.min(total, page * per_page)} of ` : ''}
        {formatCount(total, noun)}
      </Text>
      <Group gap="lg">
        {total > 25 && (
          <Group gap={10} visibleFrom="sm" component="nav" aria-label="Rows a page">
            <Text size="sm" c="dimmed" component="span">
              Rows
            </Text>
            {SIZES.map((size) => (
              <TextLink
                key={size}
                href={to({ per_page: size, page: 1 })}
                aria-current={size === per_page}
                {...(size === per_page ? { fw: 600, c: 'inherit' } : { fw: 400 })}
              >
                {size}
              </TextLink>
            ))}
          </Group>
        )}
        {(last_page > 1 || page > 1) && (
          <ButtonGroup>
            <Step
              href={to({ page: Math.min(page, last_page + 1) - 1 })}
              label="Previous"
              rel="prev"
              on={page > 1}
            />
            <Step href={to({ page: page + 1 })} label="Next" rel="next" on={page < last_page} />
          </ButtonGroup>
        )}
      </Group>
    </Group>
  );
}

function Step({ href, label, rel, on }: { href: string; label: string; rel: string; on: boolean }) {
  if (!on) {
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
