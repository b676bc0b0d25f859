import { Button, ButtonGroup, Group, type GroupProps, Paper, Text, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatCount } from '@/app/_components/format';
import { LinkButton, TextLink } from '@/app/_components/links';
import { withParams } from '@/app/_components/with-params';
import { type CursorList, isNumbered, MAX_COUNTED, type StaffPage } from '@/lib/counted-list/sorted-page';
import type { Page } from '@/lib/page';
import type { PageStart } from '@/lib/page-query';
import { Dimmed } from '../display/values';
import { Nothing } from '../page/staff-page';
import classes from './list.module.css';

interface PagedListProps<Row> {
  page: StaffPage<Row>;
  /** Cursors from the URL. If given, an empty page after the end of the list links to the first page. */
  start?: PageStart;
  /** Word for one record of the list, in the singular. */
  noun: string;
  /** Plural of `noun`. Defaults to `noun` with an s. */
  nouns?: string;
  /** Sentence for a list that has no rows at all. It says how rows are added, or why there are none. */
  yet: string;
  /** A hint to show if the filters match no row. */
  hint?: ReactNode;
  /** Whether a filter is set. */
  isFiltered?: boolean;
  path: string;
  /** The current query parameters, so that links keep the filters. */
  params: URLSearchParams;
  /** Whether the list reads `per_page` from the URL. Numbered pages always do. */
  hasSizes?: boolean;
  children(rows: Row[]): ReactNode;
}

/** Shows a page of a list with links to other pages. If the page has no rows, shows the reason. */
export function PagedList<Row>(props: PagedListProps<Row>) {
  const { page, path, params, noun, nouns = `${noun}s`, hasSizes = false, children } = props;
  return (
    <>
      <Paper withBorder radius="lg" className={classes.frame ?? ''} id="list" tabIndex={-1}>
        {page.data.length === 0 ? <Why {...props} nouns={nouns} /> : children(page.data)}
      </Paper>
      {isNumbered(page) ? (
        page.total > 0 && <Pager page={page} path={path} params={params} noun={noun} nouns={nouns} />
      ) : (
        <CursorFooter {...{ page, path, params, noun, hasSizes }} />
      )}
    </>
  );
}

function Why<Row>(props: PagedListProps<Row> & { nouns: string }) {
  const { page, start, nouns, yet, hint, isFiltered, path, params } = props;
  const action = start && <TextLink href={withParams(path, params, {})}>Go to the first page</TextLink>;
  if (isNumbered(page) && page.total > 0)
    return <Nothing title={`No more ${nouns}`} text="The list ends before this page." action={action} />;
  const isBehindOthers = start?.after !== undefined || start?.before !== undefined;
  if (!isNumbered(page) && isBehindOthers && !page.refused) {
    const text = 'The list has changed. It has no more rows in this direction.';
    return <Nothing title={`No ${nouns} on this page`} text={text} action={action} />;
  }
  if (isFiltered)
    return <Nothing title={`No ${nouns} found`} text={hint ?? 'Nothing matches these filters.'} />;
  return <Nothing title={`No ${nouns} yet`} text={yet} />;
}

type Place = Pick<PagedListProps<unknown>, 'path' | 'params' | 'noun' | 'nouns'>;

const SIZES = [25, 50, 100];

/** Shows which rows of the list a numbered page contains, and links to the neighbouring pages. */
export function Pager({
  page: { page, per_page, total, last_page },
  ...place
}: Place & { page: Page<unknown> }) {
  const { path, params, noun, nouns } = place;
  const first = (page - 1) * per_page + 1;
  const to = (changes: Record<string, number>) => withParams(path, params, changes);
  const range = first <= total ? `${first}–${Math.min(total, page * per_page)} of ` : '';
  return (
    <Footer
      text={range + formatCount(total, noun, nouns)}
      size={total > 25 ? per_page : null}
      toSize={(size) => to({ per_page: size, page: 1 })}
      previous={page > 1 ? to({ page: Math.min(page, last_page + 1) - 1 }) : null}
      next={page < last_page ? to({ page: page + 1 }) : null}
    />
  );
}

/** Shows how many rows match in a list that is paged by cursor, if they were counted, and links to the other pages. */
function CursorFooter(props: Place & { page: CursorList<unknown>; hasSizes: boolean }) {
  const { page, path, params, noun, hasSizes } = props;
  const { count, previous, next } = page;
  const to = (changes: Record<string, string | number>) => withParams(path, params, changes);
  if (!count && !previous && !next) return null;
  const isMore = count !== undefined && count > MAX_COUNTED;
  return (
    <Footer
      text={
        count !== undefined &&
        `${isMore ? 'More than ' : ''}${formatCount(isMore ? MAX_COUNTED : count, noun)}`
      }
      size={hasSizes && (next || previous || (count ?? 0) > 25) ? Number(params.get('per_page') ?? 25) : null}
      toSize={(size) => to({ per_page: size })}
      previous={previous && to({ before: previous })}
      next={next && to({ after: next })}
    />
  );
}

interface FooterProps {
  text: ReactNode;
  /** Current number of rows per page. Null to offer no choice, such as for a short list. */
  size: number | null;
  toSize(size: number): string;
  /** URL of the previous page. Null on the first page. */
  previous: string | null;
  /** URL of the next page. Null on the last page. */
  next: string | null;
}

function Footer({ text, size: current, toSize, previous, next }: FooterProps) {
  const step = (href: string | null, label: string, rel: string) =>
    href === null ? (
      <Button variant="default" size="xs" disabled>
        {label}
      </Button>
    ) : (
      <LinkButton href={href} rel={rel} variant="default" size="xs">
        {label}
      </LinkButton>
    );
  return (
    <Group justify="space-between" mt="md" gap="md">
      <Dimmed>{text}</Dimmed>
      <Group gap="lg">
        {current !== null && (
          <Choice
            label="Rows per page"
            visibleFrom="sm"
            current={String(current)}
            options={SIZES.map((size) => ({ value: String(size), text: String(size), href: toSize(size) }))}
          >
            <Text size="sm" c="dimmed" component="span">
              Rows
            </Text>
          </Choice>
        )}
        {(previous || next) && (
          <ButtonGroup>
            {step(previous, 'Previous', 'prev')}
            {step(next, 'Next', 'next')}
          </ButtonGroup>
        )}
      </Group>
    </Group>
  );
}

interface ChoiceProps extends GroupProps {
  label: string;
  current: string;
  options: { value: string; text: string; href: string }[];
}

/** Shows links to alternative views of a page, and marks the current view. */
export function Choice({ label, current, options, children, ...group }: ChoiceProps) {
  return (
    <Group gap={10} component="nav" aria-label={label} {...group}>
      {children}
      {options.map(({ value, text, href }) => (
        <TextLink
          key={value}
          href={href}
          aria-current={value === current}
          {...(value === current ? { fw: 600, c: 'inherit' } : { fw: 400 })}
        >
          {text}
        </TextLink>
      ))}
    </Group>
  );
}

interface Props {
  rows?: number;
  /** Whether to include space for the column headers. */
  headed?: boolean;
  /** Whether the list has a border. False if another frame surrounds it. */
  framed?: boolean;
}

/** Shows a placeholder with `rows` rows while a list loads. */
export function ListSkeleton({ rows = 25, headed = false, framed = true }: Props) {
  return (
    <Paper withBorder={framed} radius="lg" role="status" className={`${classes.frame} ${classes.list}`}>
      <VisuallyHidden>Loading</VisuallyHidden>
      {headed && <div className={classes.skeletonHead} />}
      <div className={classes.loading}>
        {Array.from({ length: rows }, (_, row) => row).map((row) => (
          <div key={row} className={classes.skeletonRow} />
        ))}
      </div>
    </Paper>
  );
}
