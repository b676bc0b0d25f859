import { Box } from '@mantine/core';
import type { Metadata } from 'next';
import { notFound, redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { listLines } from '@/lib/invoices/line-rows';
import { getRuntime } from '@/lib/runtime';
import { getSalesDocument } from '@/lib/sales-documents/get-sales-document';
import { orNotFound } from '../../../../_components/or-not-found';
import { toId } from '../../../../_components/search-params';
import { DraftForm } from '../../../_components/draft/draft-form';
import { PageHeader } from '../../../_components/page-header';
import { FIELDS, toFields } from '../../draft-fields';
import { PATH } from '../../path';
import { save } from './actions';

export const metadata: Metadata = { title: 'Edit sales document' };

export default async function EditSalesDocumentPage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db } = await getRuntime();
  const document = await orNotFound(getSalesDocument(db, id));
  const href = `${PATH}/${id}`;
  if (document.status !== 'draft') redirect(href);
  return (
    <Box maw={900}>
      <PageHeader
        back={{ href, label: document.document_number }}
        title={`Edit ${document.document_number}`}
      />
      <DraftForm
        label="Sales document"
        action={save.bind(null, id, document.version)}
        fields={FIELDS.edited}
        initial={toFields(document, await listLines(db, 'sales_document', id))}
        confirm="Save draft"
        cancelHref={href}
      />
    </Box>
  );
}
