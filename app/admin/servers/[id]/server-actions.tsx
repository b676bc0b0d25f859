import type { RecordState } from '@/lib/records/steps';
import type { ServerRow } from '@/lib/servers/queries';
import { serverSteps } from '@/lib/servers/save-servers';
import { ALONE, RecordActions } from '../../_components/forms/record/record-actions';
import { STEPS } from './step-text';

/** What staff can do with a server. */
export function ServerActions({ server, state }: { server: ServerRow; state: RecordState }) {
  return (
    <RecordActions
      kind="server"
      steps={serverSteps}
      texts={STEPS}
      record={{ ...server, version: state.version }}
      noun="server"
      name={server.hostname}
      edit={{ href: `/admin/servers/${server.id}/edit` }}
      removal={state.isReferredTo ? null : ALONE}
    />
  );
}
