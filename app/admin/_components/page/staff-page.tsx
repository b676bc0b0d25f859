import { Box, EmptyState, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { IconChevronRight, IconInbox } from '@tabler/icons-react';
import type { Metadata } from 'next';
import { notFound } from 'next/navigation';
import type { ReactNode } from 'react';
import { type SearchParams, toId, toParams } from '@/app/_components/search-params';
import { requireAdmin, requireStaff, type StaffMember } from '@/lib/auth/staff-session';
import { AppError } from '@/lib/errors';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { Dimmed, Facts } from '../display/values';
import { BackLink } from './back-link';
import classes from './section.module.css';

interface RouteProps<Params> {
  params: Promise<Params>;
  searchParams: Promise<SearchParams>;
}

/** Context that a page receives. `db` and `timeZone` are shortcuts to values of `runtime`. */
interface PageCall<Params> {
  staff: StaffMember;
  runtime: Runtime;
  db: Runtime['db'];
  timeZone: string;
  params: Params;
  /** The query without the `notice` parameter. */
  search: URLSearchParams;
  /** Outcome code of the action that redirected here. Null if no action redirected here. */
  notice: string | null;
}

function pageFor(requirePerson: () => Promise<StaffMember>) {
  return <Params = unknown>(show: (call: PageCall<Params>) => Promise<ReactNode>) =>
    async ({ params, searchParams }: RouteProps<Params>) => {
      const staff = await requirePerson();
      const runtime = await getRuntime();
      const { db, env } = runtime;
      const search = toParams(await searchParams);
      const notice = search.get('notice');
      search.delete('notice');
      return show({ staff, runtime, db, timeZone: env.timeZone, params: await params, search, notice });
    };
}

/** Creates a page for all staff. The page checks the session before it reads any data. */
export const staffPage = pageFor(requireStaff);

/** Creates a page for admins only. The page checks the session before it reads any data. */
export const adminPage = pageFor(requireAdmin);

function recordPageFor(page: typeof staffPage) {
  return <Row,>(
    read: (db: Runtime['db'], id: number) => Promise<Row>,
    show: (row: NonNullable<Row>, call: PageCall<unknown> & { id: number }) => Promise<ReactNode>,
  ) =>
    page<{ id: string }>(async (call) => {
      const id = toId(call.params.id) ?? notFound();
      return show(await orNotFound(read(call.db, id)), { ...call, id });
    });
}

/** Creates a record's page for all staff. Shows the not-found page for an invalid id, or if `read` finds no record. */
export const recordPage = recordPageFor(staffPage);

/** Creates a record's page for admins only. See `recordPage`. */
export const adminRecordPage = recordPageFor(adminPage);

/** Parses the Stripe id in a page's path. Shows the not-found page if the id is invalid. */
export const stripeIdIn = ({ id }: { id: string }): string => (/^[\w-]{1,255}$/.test(id) ? id : notFound());

/** Returns a record. Shows the not-found page if the record is null or the query throws a `not_found` error. */
export async function orNotFound<Row>(record: Promise<Row>): Promise<NonNullable<Row>> {
  return (await orNull(record)) ?? notFound();
}

/** Returns a record, or null if the query throws a `not_found` error. */
export async function orNull<Row>(record: Promise<Row>): Promise<Row | null> {
  try {
    return await record;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}

/**
 * Creates `generateMetadata` for a record's page. The title contains the record's name, to distinguish browser tabs.
 *
 * @param kind title to use if the record does not exist, or if this member of staff must not see its name
 */
export function titleOf(
  kind: string,
  nameOf: (id: string, reader: { runtime: Runtime; staff: StaffMember }) => Promise<string | null>,
) {
  return async ({ params }: { params: Promise<{ id: string }> }): Promise<Metadata> => {
    const staff = await requireStaff();
    const name = await orNull(nameOf((await params).id, { runtime: await getRuntime(), staff }));
    return { title: name || kind };
  };
}

/** Creates `generateMetadata` for a page whose path contains the numeric id of a row. */
export function titleOfRow<Row>(
  kind: string,
  read: (db: Runtime['db'], id: number) => Promise<Row>,
  nameOf: (row: NonNullable<Row>, staff: StaffMember) => string | null,
) {
  return titleOf(kind, async (text, { runtime, staff }) => {
    const id = toId(text);
    const row = id === null ? null : await read(runtime.db, id);
    return row ? nameOf(row, staff) : null;
  });
}

interface HeaderProps {
  title: ReactNode;
  description?: ReactNode;
  back?: { href: string; label: string };
  /** Buttons at the right edge. */
  actions?: ReactNode;
}

export function PageHeader({ title, description, back, actions }: HeaderProps) {
  return (
    <Stack gap={6} mb="lg">
      {back && <BackLink {...back} />}
      <Group justify="space-between" align="flex-start" gap="md">
        <Stack gap={4} miw={0}>
          <Title order={1} className="break-anywhere">
            {title}
          </Title>
          {description && (
            <Text c="dimmed" size="sm" component="div" className="break-anywhere">
              {description}
            </Text>
          )}
        </Stack>
        {actions}
      </Group>
    </Stack>
  );
}

interface PageProps extends HeaderProps {
  /** Notice about the outcome of the action that redirected here. */
  notice?: ReactNode;
  children: ReactNode;
}

/** Shows a page of several sections below a header. */
export function Page({ notice, children, ...header }: PageProps) {
  return (
    <>
      <PageHeader {...header} />
      {notice}
      <Stack gap="xl">{children}</Stack>
    </>
  );
}

interface FormPageProps extends HeaderProps {
  /** Maximum width in pixels. */
  maw?: number;
  children: ReactNode;
}

/** Shows a page that consists of one form below a header. */
export function FormPage({ maw = 600, children, ...header }: FormPageProps) {
  return (
    <Box maw={maw}>
      <PageHeader {...header} />
      {children}
    </Box>
  );
}

/** Shows two parts of a page side by side, or one below the other on a narrow screen. */
export function Columns({ children }: { children: ReactNode }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg" verticalSpacing="xl">
      {children}
    </SimpleGrid>
  );
}

interface Props {
  title: string;
  action?: ReactNode;
  /** Whether the section can be collapsed. It starts collapsed, so that only its title is visible. */
  folds?: boolean;
  facts?: Record<string, ReactNode>;
  /** Text to show instead of the contents, for an empty section. */
  none?: string | false;
  /** Whether the contents have their own frame, as a paged list does. */
  isFramed?: boolean;
  children?: ReactNode;
}

export function Section({ title, action, folds = false, facts, none, isFramed = false, children }: Props) {
  const body = isFramed ? (
    children
  ) : (
    <Paper withBorder radius="lg" className={classes.body ?? ''}>
      {none ? <EmptyText>{none}</EmptyText> : facts ? <Facts facts={facts} /> : children}
    </Paper>
  );
  if (folds) {
    return (
      <section className={classes.section}>
        <details className={classes.folded}>
          <summary className={classes.summary}>
            <IconChevronRight size={16} stroke={1.8} aria-hidden />
            <Title order={2}>{title}</Title>
          </summary>
          {body}
        </details>
        <div className={classes.action}>{action}</div>
      </section>
    );
  }
  return (
    <section className={classes.section}>
      <Group justify="space-between" mb="xs">
        <Title order={2}>{title}</Title>
        {action}
      </Group>
      {body}
    </section>
  );
}

/** Shows the empty state of a list. */
export function Nothing({ title, text, action }: { title: string; text: ReactNode; action?: ReactNode }) {
  return (
    <EmptyState
      py={48}
      px="md"
      size="sm"
      icon={<IconInbox stroke={1.4} aria-hidden />}
      withIndicatorBackground
      title={title}
      description={text}
    >
      {action}
    </EmptyState>
  );
}

export function EmptyText({ children }: { children: ReactNode }) {
  return <Dimmed p="md">{children}</Dimmed>;
}
