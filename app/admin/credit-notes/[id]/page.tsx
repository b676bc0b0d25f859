import { redirect } from 'next/navigation';
import { findCreditedInvoice } from '@/lib/invoices/credit-note-list';
import { recordPage } from '../../_components/page/staff-page';

/** Redirects to the page of the credited invoice, which shows its credit notes. */
export default recordPage(findCreditedInvoice, async (invoiceId) => redirect(`/admin/invoices/${invoiceId}`));
