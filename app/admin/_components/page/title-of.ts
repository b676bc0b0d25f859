import type { Metadata } from 'next';
import { requireStaff, type StaffMember } from '@/lib/auth/staff-session';
import { getRuntime, type Runtime } from '@/lib/runtime';
import { orNull } from '../../../_components/or-not-found';
import { toId } from '../../../_components/search-params';

interface Props {
  params: Promise<{ id: string }>;
}

interface Reader {
  runtime: Runtime;
  staff: StaffMember;
}

/**
 * Makes the `generateMetadata` of a record's page. The record's name in the title distinguishes browser tabs.
 *
 * @param kind the title if the record does not exist, or if this member of staff must not see its name
 */
export function titleOf(kind: string, nameOf: (id: string, reader: Reader) => Promise<string | null>) {
  return async ({ params }: Props): Promise<Metadata> => {
    const staff = await requireStaff();
    const name = await orNull(nameOf((await params).id, { runtime: await getRuntime(), staff }));
    return { title: name || kind };
  };
}

/** Makes the `generateMetadata` of a page whose record has a numeric id in the database. */
export function titleOfRow(
  kind: string,
  nameOf: (db: Runtime['db'], id: number, staff: StaffMember) => Promise<string | null>,
) {
  return titleOf(kind, async (text, { runtime, staff }) => {
    const id = toId(text);
    return id === null ? null : nameOf(runtime.db, id, staff);
  });
}
