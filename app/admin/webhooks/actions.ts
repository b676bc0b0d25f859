'use server';

import { z } from 'zod';
import { replayForStaff } from '@/lib/sync/inbox/events';
import { syncDeps } from '@/lib/sync/sync-deps';
import { staffAction } from '../_components/page/staff-action';

/** Replays an event, and redirects to the event's page with the outcome. */
export const replay = staffAction({
  role: 'staff',
  input: [z.string()],
  run: ({ runtime, actor }, id) => replayForStaff(syncDeps(runtime), actor, id),
  done: (outcome, id) => `/admin/webhooks/${encodeURIComponent(id)}?replayed=${outcome}`,
});
