import type { z } from 'zod';
import { toHref } from '../../../../_components/search-params';
import type { ListDeclaration } from '../../lists/list-declaration';
import { ListPage } from '../../lists/list-page';
import { staffPage } from '../../page/staff-page';
import { NewLink } from './new-link';
import { RecordNotice } from './record-notice';

interface Texts {
  /** Label of the link to the form for a new record. */
  create: string;
  /** Notice after a record was deleted. */
  deleted: string;
}

/** A page that lists records, with a link that creates one. A list of one customer's records passes this customer on. */
export function recordListPage<Schema extends z.ZodObject, Row>(
  list: ListDeclaration<Schema, Row>,
  { create, deleted }: Texts,
) {
  return staffPage(async ({ search }) => {
    const customer = search.get('customer');
    return (
      <ListPage
        list={list}
        search={search}
        actions={<NewLink href={toHref(`${list.path}/new`, customer ? { customer } : {})}>{create}</NewLink>}
        notice={<RecordNotice notice={search.get('notice')} done={{ deleted }} />}
      />
    );
  });
}
