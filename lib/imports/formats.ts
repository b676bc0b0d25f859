import type { FileFormat } from './file-format';
import type { ImportName } from './kinds';
import { whmcsClients } from './whmcs/clients';
import { whmcsInvoices } from './whmcs/invoices';
import { whmcsServices } from './whmcs/services';
import { whmcsTransactions } from './whmcs/transactions';

/**
 * Other programs whose files are understood as they are. Of WHMCS these are its reports of the same names (Reports >
 * Exports, Tools > Export to CSV): https://docs.whmcs.com/Reports
 */
export const FORMATS: Record<string, Partial<Record<ImportName, FileFormat>>> = {
  whmcs: {
    customers: whmcsClients,
    services: whmcsServices,
    invoices: whmcsInvoices,
    payments: whmcsTransactions,
  },
};
