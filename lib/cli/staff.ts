import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { staffRole } from '@/db/schema';
import {
  addStaffUser,
  listStaffUsers,
  removeStaffUser,
  type StaffRole,
  type StaffWorld,
  setStaffPassword,
} from '../auth/staff-users';
import { StartError } from '../errors';
import { worldOf } from '../runtime';
import { runCommand } from './run-command';
import { withDatabase } from './with-database';

const USAGE = [
  'Usage: npm run -s staff -- add EMAIL [--name NAME] [--role admin]',
  '       npm run -s staff -- list',
  '       npm run -s staff -- reset-password EMAIL',
  '       npm run -s staff -- remove EMAIL',
  'A password is read from stdin when it is piped, else one is made and printed.',
];

runCommand(async () => {
  const { verb, email, name, role } = readArguments();
  const given = verb === 'add' || verb === 'reset-password' ? await pipedPassword() : undefined;
  await withDatabase(async ({ db }, env) => {
    const world = { db, ...worldOf(env) };
    if (verb === 'list') return printStaff(world);
    if (verb === 'remove') {
      await removeStaffUser(db, email);
      return console.log(`${email} can no longer sign in.`);
    }
    const written =
      verb === 'add'
        ? await addStaffUser(world, { email, name, password: given, role })
        : await setStaffPassword(world, { email, password: given });
    console.log(`${written.email} can sign in at ${env.publicUrl}/sign-in`);
    if (given === undefined) console.log(`Password: ${written.password}`);
  });
});

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { name: { type: 'string' }, role: { type: 'string', default: 'staff' } },
    });
    const [verb, email = '', ...rest] = positionals;
    const known = verb === 'list' ? email === '' : isVerb(verb) && email !== '';
    if (verb && known && rest.length === 0 && isRole(values.role)) {
      return { verb, email, name: values.name, role: values.role };
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // an unknown option
  }
  throw new StartError(USAGE);
}

function isVerb(verb: string | undefined): boolean {
  return verb === 'add' || verb === 'reset-password' || verb === 'remove';
}

function isRole(role: string): role is StaffRole {
  return staffRole.enumValues.some((known) => known === role);
}

async function pipedPassword(): Promise<string | undefined> {
  if (process.stdin.isTTY) return undefined;
  return (await text(process.stdin)).replace(/\r?\n$/, '') || undefined;
}

async function printStaff({ db }: StaffWorld): Promise<void> {
  const staff = await listStaffUsers(db);
  if (staff.length === 0) console.log('Nobody can sign in yet: npm run -s staff -- add EMAIL');
  for (const user of staff) {
    console.log([user.email, user.role, user.name, user.created_at.toISOString().slice(0, 10)].join('\t'));
  }
}
