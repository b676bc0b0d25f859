'use server';

import { requireStaff } from '@/lib/auth/staff-session';
import { serverSteps } from '@/lib/servers/typed-server';
import { deleteForStaff, stepForStaff } from '../../_components/record/take-action';
import { PATH } from '../path';

const target = (id: number, version: number) => ({
  stepped: serverSteps,
  path: PATH,
  seen: { id, version },
});

/** Takes a server a step on. @param version as the page showed it */
export async function step(id: number, version: number, name: string): Promise<void> {
  await stepForStaff(await requireStaff(), target(id, version), name);
}

/** Deletes a server that nothing refers to. @param version as the page showed it */
export async function remove(id: number, version: number): Promise<void> {
  await deleteForStaff(await requireStaff(), target(id, version));
}
