import type { FileFormat } from './file-format';
import type { ImportName } from './kinds';
import { whmcsClients } from './whmcs/clients';
import { whmcsInvoices } from './whmcs/invoices';
import { whmcsServices } from './whmcs/services';
import { whmcsTransactions } from './whmcs/transactions';

/** Why their numbers cannot have decimal commas. */
export const WITH_POINTS = 'Files of other programs have numbers with a decimal point, such as 1234.56.';

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
