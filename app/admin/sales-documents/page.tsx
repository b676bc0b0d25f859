import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { getRuntime } from '@/lib/runtime';
import { listSalesDocuments } from '@/lib/sales-documents/queries';
import {
  DOCUMENT_STATUSES,
  DOCUMENT_TYPES,
  type DocumentStaffFilters,
  documentStaffFilters,
  toDocumentConditions,
} from '@/lib/sales-documents/staff-filters';
import { type SearchParams, toPageRequest, toParams } from '../../_components/search-params';
import { choiceOf } from '../_components/choice';
import { CountedList } from '../_components/counted-list';
import { DocumentList } from '../_components/document-list';
import { ListPage } from '../_components/list-page';
import { parseFilters } from '../_components/parse-filters';
import { NewLink } from '../_components/record/new-link';
import { RecordNotice } from '../_components/record/record-notice';
import { PATH } from './path';

export const metadata: Metadata = { title: 'Sales documents' };

const FIELDS = [
  { name: 'customer', label: 'Customer', placeholder: 'Number' },
  { name: 'number', label: 'Number', placeholder: 'Whole, or #ID' },
  { name: 'type', label: 'Type', options: choiceOf(DOCUMENT_TYPES) },
  { name: 'status', label: 'Status', options: choiceOf(DOCUMENT_STATUSES) },
  { name: 'from', label: 'From', type: 'date' as const },
  { name: 'to', label: 'To', type: 'date' as const },
];

export default async function SalesDocumentsPage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const search = toParams(await searchParams);
  const parsed = parseFilters(documentStaffFilters, search);
  return (
    <ListPage
      title="Sales documents"
      description="Offers and order confirmations, the newest first."
      actions={
        <NewLink href={`${PATH}/new`} customer={search.get('customer')}>
          New document
        </NewLink>
      }
      notice={<RecordNotice notice={search.get('notice')} done={{ deleted: 'The draft is deleted.' }} />}
      noun="sales documents"
      path={PATH}
      fields={FIELDS}
      parsed={parsed}
    >
      {(filters) => <Results filters={filters} search={search} params={parsed.params} />}
    </ListPage>
  );
}

interface ResultsProps {
  filters: DocumentStaffFilters;
  search: URLSearchParams;
  params: URLSearchParams;
}

async function Results({ filters, search, params }: ResultsProps) {
  const { db } = await getRuntime();
  const conditions = await toDocumentConditions(db, filters);
  const page = conditions && (await listSalesDocuments(db, { ...conditions, ...toPageRequest(search) }));
  return (
    <CountedList
      page={page}
      noun="sales document"
      yet="They appear here as soon as one is written."
      {...{ path: PATH, params, fields: FIELDS }}
    >
      {(documents) => <DocumentList documents={documents} />}
    </CountedList>
  );
}
