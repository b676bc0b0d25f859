import { rowId } from '@/lib/fields';
import { type Checkable, checkWithStripe } from '@/lib/sync/staff/check-with-stripe';
import { syncDeps } from '@/lib/sync/sync-deps';
import { staffAction } from '../page/staff-action';

/** Creates a server action that syncs a record with Stripe. The record's page then shows the outcome. */
export const checkAction = (entity: Checkable) =>
  staffAction({
    role: 'staff',
    input: [rowId],
    run: ({ runtime, actor }, id) => checkWithStripe(syncDeps(runtime), actor, entity, id),
    done: (_checked, id) => `/admin/${entity}s/${id}?check=done`,
    refused: ({ code }, id) => `/admin/${entity}s/${id}?check=${code}`,
  });
