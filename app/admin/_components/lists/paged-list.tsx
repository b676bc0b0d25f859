import { Button, ButtonGroup, Group, Paper, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatCount } from '@/app/_components/format';
import { LinkButton, TextLink } from '@/app/_components/links';
import { withParams } from '@/app/_components/with-params';
import { type CursorList, isNumbered, MAX_COUNTED, type StaffPage } from '@/lib/counted-list/sorted-page';
import type { Page } from '@/lib/page';
import type { PageStart } from '@/lib/page-query';
import { Nothing } from '../page/section';
import classes from './list.module.css';

interface PagedListProps<Row> {
  page: StaffPage<Row>;
  /** Where the page begins. With it, an empty page leads back to the first. */
  start?: PageStart;
  /** What the list holds, in the singular. */
  noun: string;
  /** Where an s does not make the plural. */
  nouns?: string;
  /** When there will be some, in a sentence. */
  yet: string;
  /** What else to say where a filter finds nothing. */
  hint?: ReactNode;
  /** Narrowed by a filter. */
  isFiltered?: boolean;
  path: string;
  /** The page's query as it is, so that filters stay. */
  params: URLSearchParams;
  children(rows: Row[]): ReactNode;
}

/** A page of a list with the ways on from it, or why it has no rows. */
export function PagedList<Row>(props: PagedListProps<Row>) {
  const { page, path, params, noun, nouns = `${noun}s`, children } = props;
  return (
    <>
      <Paper withBorder radius="lg" className={classes.frame ?? ''} id="list" tabIndex={-1}>
        {page.data.length === 0 ? <Why {...props} nouns={nouns} /> : children(page.data)}
      </Paper>
      {isNumbered(page) ? (
        page.total > 0 && <Pager page={page} path={path} params={params} noun={noun} nouns={nouns} />
      ) : (
        <CursorFooter {...{ page, path, params, noun }} />
      )}
    </>
  );
}

function Why<Row>(props: PagedListProps<Row> & { nouns: string }) {
  const { page, start, nouns, yet, hint, isFiltered, path, params } = props;
  const isBehindOthers = start?.after !== undefined || start?.before !== undefined;
  if (isNumbered(page) ? page.total > 0 : isBehindOthers && !page.refused) {
    const action = start && <TextLink href={withParams(path, params, {})}>Go to the first page</TextLink>;
    return <Nothing title={`No more ${nouns}`} text="The list ends before this page." action={action} />;
  }
  if (isFiltered)
    return <Nothing title={`No ${nouns} found`} text={hint ?? 'Nothing matches these filters.'} />;
  return <Nothing title={`No ${nouns} yet`} text={yet} />;
}

interface PagerProps {
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
export function Pager({ page: { page, per_page, total, last_page }, path, params, noun, nouns }: PagerProps) {
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
function PageSizes({ current, to }: { current: number; to(size: number): string }) {
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
function Steps({ previous, next }: { previous: string | null; next: string | null }) {
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

interface CursorFooterProps {
  page: CursorList<unknown>;
  path: string;
  /** The filters of the list, so that they stay. */
  params: URLSearchParams;
  noun: string;
}

/** How many match, and the ways on. */
function CursorFooter({ page: { count, previous, next }, path, params, noun }: CursorFooterProps) {
  const to = (changes: Record<string, string | number>) => withParams(path, params, changes);
  if (!count && !previous && !next) return null;
  return (
    <Group justify="space-between" mt="md" gap="md">
      <Text size="sm" c="dimmed">
        {count !== undefined && countText(count, noun)}
      </Text>
      <Group gap="lg">
        {(next || previous || (count ?? 0) > 25) && (
          <PageSizes current={Number(params.get('per_page') ?? 25)} to={(size) => to({ per_page: size })} />
        )}
        {(previous || next) && (
          <Steps previous={previous && to({ before: previous })} next={next && to({ after: next })} />
        )}
      </Group>
    </Group>
  );
}

const countText = (count: number, noun: string) =>
  count > MAX_COUNTED ? `More than ${formatCount(MAX_COUNTED, noun)}` : formatCount(count, noun);
