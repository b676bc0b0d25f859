import { Box } from '@mantine/core';
import type { Metadata } from 'next';
import { notFound, redirect } from 'next/navigation';
import { requireStaff } from '@/lib/auth/staff-session';
import { getInvoice } from '@/lib/invoices/get-invoice';
import { getRuntime } from '@/lib/runtime';
import { orNotFound } from '../../../../_components/or-not-found';
import { toId } from '../../../../_components/search-params';
import { DraftForm } from '../../../_components/draft/draft-form';
import { invoiceName } from '../../../_components/invoice-list';
import { PageHeader } from '../../../_components/page-header';
import { PATH } from '../../path';
import { isOwnUnpaid } from '../invoice-steps';
import { change } from './actions';

export const metadata: Metadata = { title: 'Due date' };

export default async function DueDatePage({ params }: { params: Promise<{ id: string }> }) {
  await requireStaff();
  const id = toId((await params).id) ?? notFound();
  const { db } = await getRuntime();
  const invoice = await orNotFound(getInvoice(db, id));
  const href = `${PATH}/${id}`;
  if (!isOwnUnpaid(invoice)) redirect(href);
  return (
    <Box maw={600}>
      <PageHeader
        back={{ href, label: 'Invoice' }}
        title={`When invoice ${invoiceName(invoice)} is due`}
        description="An invoice is overdue from the day after."
      />
      <DraftForm
        label="Due date"
        action={change.bind(null, id, invoice.version)}
        fields={[{ name: 'due_date', label: 'Due', type: 'date', description: 'Empty: never overdue.' }]}
        initial={{ due_date: invoice.due_date ?? '' }}
        confirm="Change due date"
        cancelHref={href}
      />
    </Box>
  );
}
