import type { z } from 'zod';
import { toHref } from '../../../../_components/search-params';
import type { ListDeclaration } from '../../lists/list-declaration';
import { ListPage } from '../../lists/list-page';
import { NewLink } from './new-link';
import { RecordNotice } from './record-notice';

interface Props<Schema extends z.ZodObject, Row> {
  list: ListDeclaration<Schema, Row>;
  search: URLSearchParams;
  /** What the link to the form of a new record says. */
  create: string;
  /** What a deletion led here to say. */
  deleted: string;
}

/** A list of records that staff write: it leads to the form of a new one, for the customer whose records it shows. */
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
