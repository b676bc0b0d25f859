import type { z } from 'zod';
import { toHref } from '../../../../_components/search-params';
import type { ListDeclaration } from '../../lists/list-declaration';
import { ListPage } from '../../lists/list-page';
import { NewLink } from './new-link';
import { RecordNotice } from './record-notice';

interface Props<Schema extends z.ZodObject, Row> {
  list: ListDeclaration<Schema, Row>;
  search: URLSearchParams;
  /** Label of the link to the form for a new record. */
  create: string;
  /** Notice after a record was deleted. */
  deleted: string;
}

/** Shows a list of records with a link that creates one. A list of one customer's records passes this customer on. */
export function RecordListPage<Schema extends z.ZodObject, Row>(props: Props<Schema, Row>) {
  const { list, search, create, deleted } = props;
  const customer = search.get('customer');
  return (
    <ListPage
      list={list}
      search={search}
      actions={<NewLink href={toHref(`${list.path}/new`, customer ? { customer } : {})}>{create}</NewLink>}
      notice={<RecordNotice notice={search.get('notice')} done={{ deleted }} />}
    />
  );
}
