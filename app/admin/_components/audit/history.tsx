import { Stack, Text } from '@mantine/core';
import { listAudit } from '@/lib/audit/audit-log';
import type { RecordKind } from '@/lib/records/record-kind';
import { getRuntime } from '@/lib/runtime';
import { Section } from '../page/section';
import { AuditTrail } from './audit-trail';
import { withoutFields } from './without-fields';

interface Props {
  entity: RecordKind['name'];
  id: number;
  /** Of those that were merged into it. */
  mergedIds?: number[];
  /** Why it cannot be deleted, and what else can be done. */
  kept: string | null;
}

/** Who changed a record and what. */
export async function History({ entity, id, mergedIds = [], kept }: Props) {
  const { db, env } = await getRuntime();
  const entries = withoutFields(await listAudit(db, entity, id, ...mergedIds), 'search_text', 'version');
  return (
    <Stack gap="xs">
      <Section title="History">
        <AuditTrail entries={entries} timeZone={env.timeZone} />
      </Section>
      {kept && (
        <Text size="sm" c="dimmed">
          {kept}
        </Text>
      )}
    </Stack>
  );
}
