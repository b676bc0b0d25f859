import { Box } from '@mantine/core';
import type { Metadata } from 'next';
import { notFound, redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { getInvoice } from '@/lib/invoices/get-invoice';
import { listLines } from '@/lib/invoices/line-rows';
import { getRuntime } from '@/lib/runtime';
import { orNotFound } from '../../../../_components/or-not-found';
import { toId } from '../../../../_components/search-params';
import { DraftForm } from '../../../_components/draft/draft-form';
import { PageHeader } from '../../../_components/page-header';
import { FIELDS, toFields } from '../../draft-fields';
import { PATH } from '../../path';
import { isOwnDraft } from '../invoice-steps';
import { save } from './actions';

export const metadata: Metadata = { title: 'Edit invoice' };

export default async function EditInvoicePage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db } = await getRuntime();
  const invoice = await orNotFound(getInvoice(db, id));
  const href = `${PATH}/${id}`;
  if (!isOwnDraft(invoice)) redirect(href);
  return (
    <Box maw={900}>
      <PageHeader back={{ href, label: 'Invoice' }} title="Edit draft" />
      <DraftForm
        label="Invoice"
        action={save.bind(null, id, invoice.version)}
        fields={FIELDS}
        initial={toFields(invoice, await listLines(db, 'invoice', id))}
        confirm="Save draft"
        cancelHref={href}
      />
    </Box>
  );
}
