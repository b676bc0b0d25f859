import { customerSteps, typedCustomer } from '@/lib/customers/save-customers';
import { invoiceSteps, typedDueDate, typedInvoice } from '@/lib/invoices/save-invoices';
import { deleteRecord, type SteppedKind } from '@/lib/records/steps';
import type { TypedKind } from '@/lib/records/typed-record';
import {
  deleteDraft,
  salesDocumentSteps,
  typedNewSalesDocument,
  typedSalesDocument,
} from '@/lib/sales-documents/save-sales-documents';
import { serverSteps, typedServer } from '@/lib/servers/save-servers';
import { serviceSteps, typedNewService, typedService } from '@/lib/services/save-services';

const CUSTOMERS = '/admin/customers';
const INVOICES = '/admin/invoices';
const SALES_DOCUMENTS = '/admin/sales-documents';
const SERVERS = '/admin/servers';
const SERVICES = '/admin/services';

export interface StaffKind {
  /** Path of the list page of this kind. */
  path: string;
  steps: SteppedKind;
  remove: typeof deleteRecord;
}

/** The record kinds that `step` and `remove` accept, by the name that the browser sends. */
export const KINDS = {
  customer: { path: CUSTOMERS, steps: customerSteps, remove: deleteRecord },
  server: { path: SERVERS, steps: serverSteps, remove: deleteRecord },
  service: { path: SERVICES, steps: serviceSteps, remove: deleteRecord },
  invoice: { path: INVOICES, steps: invoiceSteps, remove: deleteDraft },
  sales_document: { path: SALES_DOCUMENTS, steps: salesDocumentSteps, remove: deleteDraft },
} satisfies Record<string, StaffKind>;

export type KindName = keyof typeof KINDS;

export interface StaffForm {
  typedKind: TypedKind;
  /** Path of the list page of the records that the form writes. */
  path: string;
  isNew: boolean;
}

/** The record forms, by the name that the browser sends with a submitted form. */
export const FORMS = {
  new_customer: { typedKind: typedCustomer, path: CUSTOMERS, isNew: true },
  customer: { typedKind: typedCustomer, path: CUSTOMERS, isNew: false },
  new_server: { typedKind: typedServer, path: SERVERS, isNew: true },
  server: { typedKind: typedServer, path: SERVERS, isNew: false },
  new_service: { typedKind: typedNewService, path: SERVICES, isNew: true },
  service: { typedKind: typedService, path: SERVICES, isNew: false },
  new_invoice: { typedKind: typedInvoice, path: INVOICES, isNew: true },
  invoice: { typedKind: typedInvoice, path: INVOICES, isNew: false },
  due_date: { typedKind: typedDueDate, path: INVOICES, isNew: false },
  new_sales_document: { typedKind: typedNewSalesDocument, path: SALES_DOCUMENTS, isNew: true },
  sales_document: { typedKind: typedSalesDocument, path: SALES_DOCUMENTS, isNew: false },
} satisfies Record<string, StaffForm>;

export type FormName = keyof typeof FORMS;
