import type { RecordState } from '@/lib/records/read-state';
import type { ServerRow } from '@/lib/servers/schema';
import { serverSteps } from '@/lib/servers/typed-server';
import { actionsOf } from '../../_components/record/actions-of';
import { RecordActions } from '../../_components/record/record-actions';
import { PATH } from '../path';
import { remove, step } from './actions';
import { STEPS } from './step-text';

/** What staff can do with a server. */
export function ServerActions({ server, state }: { server: ServerRow; state: RecordState }) {
  const { id, hostname } = server;
  return (
    <RecordActions
      noun="server"
      name={hostname}
      edit={`${PATH}/${id}/edit`}
      steps={actionsOf(serverSteps, STEPS, server, state.version, step)}
      remove={state.isReferredTo ? null : remove.bind(null, id, state.version)}
    />
  );
}
