import { toRequestParams } from '@/app/_components/search-params';
import { getStatementFile } from '@/lib/documents/statement';
import { statementPeriod } from '@/lib/documents/statement-entries';
import { staffDocumentRoute } from '../../../../_components/records/document-route';

/** Downloads the statement of account as PDF. An invalid period is ignored. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = staffDocumentRoute((db, id, moment, search) => {
  const period = statementPeriod.safeParse(Object.fromEntries(toRequestParams(search))).data ?? {};
  return getStatementFile(db, id, period, moment);
}, '?notice=no_pdf');
