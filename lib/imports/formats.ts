import type { Reports } from './file-format';
import type { ImportName } from './kinds';
import { whmcsClients } from './whmcs/clients';
import { whmcsDomains } from './whmcs/domains';
import { whmcsInvoices } from './whmcs/invoices';
import { whmcsServices } from './whmcs/services';
import { whmcsTransactions } from './whmcs/transactions';

/**
 * Other programs whose files can be imported. For WHMCS these are its reports of the same names (Reports > Exports,
 * Tools > Export to CSV): https://docs.whmcs.com/Reports
 */
export const FORMATS: Record<string, Partial<Record<ImportName, Reports>>> = {
  whmcs: {
    customers: [() => whmcsClients],
    services: [() => whmcsServices, () => whmcsDomains],
    invoices: [() => whmcsInvoices],
    payments: [whmcsTransactions],
  },
};
