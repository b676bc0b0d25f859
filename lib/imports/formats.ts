import type { FileFormat } from './file-format';
import type { ImportName } from './kinds';
import { whmcsClients, whmcsServices } from './whmcs';

/** Other programs whose files are understood as they are. */
export const FORMATS: Record<string, Partial<Record<ImportName, FileFormat>>> = {
  whmcs: { customers: whmcsClients, services: whmcsServices },
};
