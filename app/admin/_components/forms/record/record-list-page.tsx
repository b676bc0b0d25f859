import { IconPlus } from '@tabler/icons-react';
import type { ComponentProps } from 'react';
import type { z } from 'zod';
import { LinkButton } from '@/app/_components/links';
import { toHref } from '@/app/_components/search-params';
import type { ListDeclaration } from '../../lists/list-declaration';
import { ListPage } from '../../lists/list-page';
import { staffPage } from '../../page/staff-page';
import { RecordNotice } from './record-notice';

interface Texts {
  /** Label of the link to the form for a new record. */
  create: string;
  /** Notice after a record was deleted. */
  deleted: string;
}

/** Creates a list page with a link to the form for a new record. The form starts with the customer of the filter. */
export function recordListPage<Schema extends z.ZodObject, Row>(
  list: ListDeclaration<Schema, Row>,
  { create, deleted }: Texts,
) {
  return staffPage(async ({ search, notice }) => {
    const customer = search.get('customer');
    return (
      <ListPage
        list={list}
        search={search}
        actions={<NewLink href={toHref(`${list.path}/new`, customer ? { customer } : {})}>{create}</NewLink>}
        notice={<RecordNotice notice={notice} done={{ deleted }} />}
      />
    );
  });
}

/** Shows a button that opens the form for a new record. */
export function NewLink(props: ComponentProps<typeof LinkButton>) {
  return <LinkButton size="sm" leftSection={<IconPlus size={16} aria-hidden />} {...props} />;
}
