import { Box } from '@mantine/core';
import type { Metadata } from 'next';
import { requireStaff } from '@/lib/auth/staff-session';
import { type SearchParams, toParams } from '../../../_components/search-params';
import { DraftForm } from '../../_components/draft/draft-form';
import { PageHeader } from '../../_components/page-header';
import { FIELDS, newFields } from '../draft-fields';
import { PATH } from '../path';
import { create } from './actions';

export const metadata: Metadata = { title: 'New invoice' };

export default async function NewInvoicePage({ searchParams }: { searchParams: Promise<SearchParams> }) {
  await requireStaff();
  const customer = toParams(await searchParams).get('customer') ?? '';
  return (
    <Box maw={900}>
      <PageHeader back={{ href: PATH, label: 'Invoices' }} title="New invoice" />
      <DraftForm
        label="Invoice"
        action={create}
        fields={FIELDS}
        initial={newFields(customer)}
        confirm="Save draft"
        cancelHref={PATH}
      />
    </Box>
  );
}
