import type { StaffMember } from '@/lib/auth/staff-session';
import { deleteRecord } from '@/lib/records/delete-record';
import { staffRecordWriter } from '@/lib/records/staff-writer';
import { type SteppedKind, takeStep } from '@/lib/records/take-step';
import { getRuntime } from '@/lib/runtime';
import { refusalOf } from '../refusal-of';
import { leaveFor } from './leave-for';

interface Target {
  stepped: SteppedKind;
  /** Where records of this kind are. */
  path: string;
  /** The record, and its version as the page showed it. */
  seen: { id: number; version: number };
}

/** Takes a record a step on, and leads back to it. */
export async function stepForStaff(staff: StaffMember, target: Target, name: string): Promise<never> {
  const { stepped, path, seen } = target;
  const runtime = await getRuntime();
  const writer = staffRecordWriter(runtime, staff);
  const refused = await refusalOf(takeStep(runtime.db, stepped, name, seen, writer));
  return leaveFor(`${path}/${seen.id}?notice=${refused ?? name}`);
}

/** Deletes a record, and leads to the list; where something refers to it, back to it. */
export async function deleteForStaff(staff: StaffMember, target: Target): Promise<never> {
  const { stepped, path, seen } = target;
  const runtime = await getRuntime();
  const writer = staffRecordWriter(runtime, staff);
  const refused = await refusalOf(deleteRecord(runtime.db, stepped.kind, seen, writer));
  // Gone already is gone.
  if (!refused || refused === 'not_found') return leaveFor(`${path}?notice=deleted`);
  return leaveFor(`${path}/${seen.id}?notice=${refused === 'conflict' ? 'in_use' : refused}`);
}
