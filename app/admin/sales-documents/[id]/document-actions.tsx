import type { SalesDocumentDetails } from '@/lib/sales-documents/queries';
import {
  type Conversion,
  conversionsOf,
  salesDocumentSteps,
} from '@/lib/sales-documents/save-sales-documents';
import { formatMoney } from '../../../_components/format';
import { ConfirmButton } from '../../_components/forms/confirm-button';
import { RecordActions } from '../../_components/forms/record/record-actions';
import { convert } from './actions';
import { CONVERSIONS, STEPS } from './step-text';

/** What staff can do with a sales document. */
export function DocumentActions({ document }: { document: SalesDocumentDetails }) {
  const { id, version, status, document_number: number } = document;
  const name = `${number}, ${formatMoney(document.total, document.currency)}`;
  const isDraft = status === 'draft';
  const [next, ...others] = conversionsOf(document);
  return (
    <RecordActions
      key={version}
      kind="sales_document"
      steps={salesDocumentSteps}
      texts={STEPS}
      record={document}
      noun="draft"
      name={name}
      edit={isDraft ? { href: `/admin/sales-documents/${id}/edit` } : null}
      removal={isDraft ? 'Its number may be reused. The offer it came from can be converted again.' : null}
      primary={next && conversion(next, 'filled')}
    >
      {others.map((to) => conversion(to, 'default'))}
    </RecordActions>
  );

  function conversion(to: Conversion, variant: 'filled' | 'default') {
    return (
      <ConfirmButton
        key={to}
        action={convert.bind(null, id, version, to)}
        question={`Create ${CONVERSIONS[to].noun} from this document?`}
        confirm="Create"
        consequences={[
          name,
          'The new draft has the same customer and lines. A document can be converted once.',
        ]}
        variant={variant}
      >
        {CONVERSIONS[to].label}
      </ConfirmButton>
    );
  }
}
