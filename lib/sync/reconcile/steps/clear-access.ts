import { clearOver } from '@/lib/oauth/clear-over';
import { clearToolCalls } from '@/lib/tool-calls/record-tool-call';
import type { SyncDeps } from '../../sync-deps';
import type { Run } from '../lease';

export async function clearAccess(deps: SyncDeps, _: Run, cleared: string | null): Promise<string | null> {
  const now = deps.now();
  const found = await clearToolCalls(deps.db, { now, days: deps.toolCallRetentionDays });
  if (!found.isOver) return String(Number(cleared ?? 0) + found.cleared);
  await clearOver(deps.db, now);
  return null;
}
